#!/bin/sh
# SmolLM2 with eyes, from the package to the tables: see docs/train-smol.md. A stopped script goes on where it was.
#     recipes/smol/all.sh [FOLDER]       results in FOLDER, training/smol by default
set -eu
results=${1:-training/smol}
recipes=$(dirname "$0")
mkdir -p "$results"
[ -d training/smol-start ] || python "$recipes/../smol_vlm.py" training/smol-start
ludens prepare "viki/activate?split=train" --seed 2000000 -n 1600
ludens prepare "viki/activate?split=train" --seed 1000000 -n 640
ludens prepare "viki/activate" -n 400
for stage in imitate tic-tac-toe viki spy; do
    ludens train "$recipes/$stage.toml"
done

judge() { # NAME CHECKPOINT OPTIONS
    name=$1 model="hf/$2?temperature=0&batch=128&max_tokens=160"
    shift 2
    PYTHONPATH="$recipes/..${PYTHONPATH:+:$PYTHONPATH}" ludens eval smol_suite:SUITE --model "$model" --name smol --size 256 \
        --concurrency 128 --workers 0 --yes --out "$results/$name" "$@" > "$results/$name.txt"
}

judge imitate training/smol-imitate/supervised
judge imitate-contrast training/smol-imitate/supervised --theme contrast --tasks perceive,perceive/codes
for stage in tic-tac-toe viki spy; do
    task=$(echo $stage | tr - _)
    judge $stage "$(ls -d training/smol-$stage/step-* | tail -n 1)" --tasks "perceive,$task"
done
