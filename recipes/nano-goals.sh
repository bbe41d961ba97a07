#!/bin/sh
# What a small model reaches, next to its blind control: reading in every look and size, questions and valid moves,
# games on grids, the spy game. Run from the root of the repository:
#
#   recipes/nano-goals.sh nano/training/nano/supervised runs/nano-goals
#
#   EPISODES  of every task
set -eu

model=${1:-}
out=${2:-}
if [ -z "$model" ] || [ -z "$out" ]; then
    echo "usage: nano-goals.sh MODEL FOLDER" >&2
    exit 2
fi
episodes=${EPISODES:-100}

evaluate() {  # name, suite, tasks, further options
    name=$1 suite=$2 tasks=$3
    shift 3
    [ -d "$out/$name" ] || ludens eval "$suite" --tasks "$tasks" --model "$model" --limit "$episodes" --concurrency 256 \
        --out "$out/$name" --yes "$@"
}

on_boards() {  # the tasks of a kind on all boards
    for board in tic_tac_toe reversi sudoku minesweeper gomoku chess; do
        printf '%s/%s,' "$1" "$board"
    done | sed 's/,$//'
}

evaluate questions playground "$(on_boards perceive),$(on_boards qa),$(on_boards rule)" --blind-control
evaluate grids vs-bench decide/coin_dilemma,decide/monster_hunt,decide/battle_of_colors --blind-control
evaluate demo demo tic_tac_toe,breakthrough,coin_dilemma,perceive,wire --blind-control
evaluate spy vision-zero flat --reference bot/blunt --blind-control --size 256
for theme in classic contrast plain random; do
    for size in 256 512 1024; do
        evaluate "perceive-$theme-$size" playground "$(on_boards perceive)" --theme "$theme" --size "$size"
    done
done
evaluate games playground "$(on_boards e2e)" --blind-control

for run in "$out"/*; do
    echo "## $(basename "$run")"
    ludens report "$run" --format md
done
