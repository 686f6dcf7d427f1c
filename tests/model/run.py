"""``python -m tests.model --seed 1 --histories 10000 --jobs 2``: many random histories; what breaks is shown, made short.

Each history has the seed ``--seed`` plus its number, so one of them is played again by ``--seed N --histories 1``.
"""

from __future__ import annotations

import argparse
import gc
import logging
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.model.history import moves_of, play, shortest, staged

_CHUNK = 50


@dataclass(frozen=True, slots=True)
class Result:
    """Of some histories: how many by kind of catalog, the steps played, and what broke, by seed."""

    kinds: Counter[str]
    steps: int
    broken: list[tuple[int, str]]


def histories(seeds: Sequence[int], *, shorten: bool = True) -> Result:
    kinds: Counter[str] = Counter()
    steps, broken = 0, []
    gc.freeze()
    with staged() as stage:
        for seed in seeds:
            kind, moves = moves_of(seed)
            kinds[kind] += 1
            steps += len(moves)
            found = play(stage, kind, moves)
            if found is not None:
                if shorten:
                    found = play(stage, kind, shortest(stage, kind, moves)) or found
                broken.append((seed, f"{kind}: {found}\n" + "\n".join(found.__notes__)))
    return Result(kinds, steps, broken)


def _quiet() -> None:
    logging.disable(logging.WARNING)  # the product's own words on injected faults


def _results(chunks: Sequence[Sequence[int]], jobs: int) -> Iterator[Result]:
    if jobs == 1:
        _quiet()
        yield from map(histories, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, _quiet) as pool:
        yield from pool.imap_unordered(histories, chunks)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args(arguments)
    seeds = range(chosen.seed, chosen.seed + chosen.histories)
    chunks = [seeds[start : start + _CHUNK] for start in range(0, len(seeds), _CHUNK)]
    kinds: Counter[str] = Counter()
    steps, broken, begun = 0, 0, time.perf_counter()
    for result in _results(chunks, chosen.jobs):
        kinds.update(result.kinds)
        steps += result.steps
        broken += len(result.broken)
        for seed, text in result.broken:
            print(f"seed {seed} breaks: {text}\n", flush=True)
        print(f"{sum(kinds.values())} of {len(seeds)} histories, {broken} broken", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - begun
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    print(f"seeds {seeds[0]}-{seeds[-1]}: {len(seeds)} histories ({counts}), {steps} steps, {seconds:.0f} s, {broken} broken")
    return 1 if broken else 0
