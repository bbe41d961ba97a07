"""Replies drawn by a vLLM server over HTTP, with token ids and log-probabilities; weights pushed to it."""
