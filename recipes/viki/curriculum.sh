#!/bin/sh
# VIKI level 2 by a curriculum: two lessons of imitation and GRPO, then an evaluation in and out of domain.
#
#   recipes/viki/curriculum.sh
#
# Run from the root of the repository. When it was stopped, run it again: it goes on where it was.
#   EPISODES  scenes of every evaluation
#   OUT       folder of the evaluation
#   DEVICE    what models run on in the evaluation: cuda, cpu
set -eu

episodes=${EPISODES:-400}
out=${OUT:-runs/viki-curriculum}
device=${DEVICE:-cuda}
recipes=recipes/viki/nano

trained() {  # the last checkpoint of a lesson, or the supervised one
    last=$(find "training/viki-nano-plan-curriculum-$1" -maxdepth 1 -name 'step-??????' | sort | tail -n 1)
    echo "nano/${last:-training/viki-nano-plan-curriculum-$1/supervised}?device=$device"
}

ludens prepare "viki/plan?split=id" -n "$episodes"
ludens prepare "viki/plan?split=ood" -n "$episodes"
ludens prepare $recipes/plan-curriculum-grpo.toml
for lesson in 1 2 grpo; do
    ludens train $recipes/plan-curriculum-$lesson.toml
done
if [ -d "$out" ]; then
    ludens resume "$out"
else
    ludens eval viki --tasks plan/in-domain,plan/out-of-domain --limit "$episodes" --size 256 --concurrency 256 \
        --out "$out" --yes --model "nano?device=$device" --name nano --model "$(trained 1)" --name lesson-1 \
        --model "$(trained 2)" --name lesson-2 --model "$(trained grpo)" --name grpo
fi
ludens report "$out" --format md
