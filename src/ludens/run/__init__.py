"""Many episodes: tasks and runs, the store they are kept in, their statistics and reports."""
