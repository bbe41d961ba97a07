#!/bin/sh
# VIKI-R: train base, Ans-SFT, R-Zero and R, evaluate them in and out of domain, and print one table.
#
#   recipes/viki/compare.sh nano                      small models, levels 1 and 2, one GPU
#   LEVELS=plan recipes/viki/compare.sh qwen          Qwen2.5-VL-3B, level 2
#
# Run from the root of the repository. When it was stopped, run it again: it goes on where it was.
#   LEVELS    activate, plan, trace
#   EPISODES  scenes of every evaluation
#   RECIPES   folder of recipes with the same names that extend these
#   PREPARE   no: do not make scenes in advance
#   OUT       folder of the evaluations
set -eu

kind=${1:-}
levels=${LEVELS:-activate plan}
episodes=${EPISODES:-500}
out=${OUT:-runs/viki-r-$kind}
recipes=${RECIPES:-recipes/viki/$kind}

case $kind in
    nano) size=256 player=nano methods="base ans-sft r-zero r" ;;
    qwen) size=512 player=hf methods="ans-sft r-zero r" ;;
    *) echo "usage: compare.sh nano|qwen" >&2; exit 2 ;;
esac

trained() {  # the spec of the model that a recipe has trained: its last checkpoint, or the supervised one
    last=$(find "training/viki-$kind-$1" -maxdepth 1 -name 'step-??????' | sort | tail -n 1)
    echo "$player/${last:-training/viki-$kind-$1/supervised}"
}

for level in $levels; do
    case $level in
        activate) tasks=activate,activate/out-of-domain ;;
        plan) tasks=plan/in-domain,plan/out-of-domain ;;
        *) tasks=$level ;;
    esac
    if [ "${PREPARE:-yes}" = yes ]; then
        ludens prepare "viki/$level?split=id" -n "$episodes"
        ludens prepare "viki/$level?split=ood" -n "$episodes"
        for method in $methods; do
            ludens prepare "$recipes/$level-$method.toml"
        done
    fi
    set --
    if [ "$kind" = qwen ]; then
        set -- --model hf/Qwen/Qwen2.5-VL-3B-Instruct --name base
    fi
    for method in $methods; do
        ludens train "$recipes/$level-$method.toml"
        set -- "$@" --model "$(trained "$level-$method")" --name "$method"
    done
    if [ -d "$out-$level" ]; then
        ludens resume "$out-$level"
    else
        ludens eval viki --tasks "$tasks" --limit "$episodes" --size "$size" --concurrency 256 \
            --out "$out-$level" --yes "$@"
    fi
done

for level in $levels; do
    ludens report "$out-$level" --format md
done
