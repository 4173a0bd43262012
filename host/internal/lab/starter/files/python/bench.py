"""The time for each entry should be the same for a long history as for a short one."""

import time

from test_strategy import Call, session, strategy

for rounds in (100, 10_000):
    history = session(rounds)
    began = time.perf_counter()
    strategy.compress(Call(history, {"keep": 3}))
    print(f"{rounds:6} calls: {(time.perf_counter() - began) / len(history) * 1e6:.2f} µs for each entry")
