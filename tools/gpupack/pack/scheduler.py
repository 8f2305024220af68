"""Runs cases in order of worth, several at a time, within the time that there is.

A case is anything with a name, `limit` (seconds) and run(seconds), which returns its results and
further cases to run next: a group that failed becomes its members. One that has `fills` takes all the
time that it is given, which is no more than its phase's.
"""
# SPDX-License-Identifier: Apache-2.0
import collections
import threading
import time

from results import NOT_RUN, Result

LEAST_SECONDS = 1.0  # less is not worth starting a process for


class Scheduler:
    def __init__(self, book, minutes):
        self.book = book
        self.minutes = minutes
        # The files are written and the last processes ended before the time is over.
        self.deadline = time.monotonic() + max(minutes * 60 - min(10, minutes * 6), 1)
        self.stopped = ""

    def left(self):
        return self.deadline - time.monotonic()

    def stop(self, reason):
        """Nothing more is started."""
        self.stopped = reason

    def run_phases(self, phases):
        """Of (cases, workers, share): a phase begins no case when it has taken that share of the time that
        was left at its beginning, so that what is worth less than its first cases comes, too. What waits
        then is run in the end. The last phase has all that is left."""
        phases = [phase for phase in phases if phase[0]]
        late = []
        for number, (cases, workers, share) in enumerate(phases):
            is_last = number + 1 == len(phases)
            rest = self.run(cases, workers, self.deadline if is_last else time.monotonic() + share * self.left())
            late.append((rest, workers))
        for cases, workers in late:
            self.run(cases, workers, self.deadline)

    def run(self, cases, workers, end):
        """Returns when all have ended that were begun by `end`: the others."""
        waiting, late = collections.deque(cases), []
        workers = min(workers, max(len(cases), 1))
        busy = 0
        condition = threading.Condition()

        def work():
            nonlocal busy
            while True:
                with condition:
                    while not waiting and busy:
                        condition.wait()
                    if not waiting:
                        return
                    case = waiting.popleft()
                    if end < self.deadline and time.monotonic() >= end:
                        late.append(case)
                        continue
                    busy += 1
                results, more = self.run_one(case, end)
                self.book.add(results)
                with condition:
                    waiting.extendleft(reversed(more))
                    busy -= 1
                    condition.notify_all()

        threads = [threading.Thread(target=work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return late

    def run_one(self, case, end):
        left = self.left()
        if self.stopped or left < LEAST_SECONDS:
            reason = self.stopped or f"the {self.minutes:g} minutes were over"
            return [Result(name, "skip", message=NOT_RUN + reason) for name in case.names()], []
        try:
            own = end - time.monotonic() if getattr(case, "fills", False) else left
            results, more = case.run(min(case.limit, own))
        except Exception as error:  # pylint: disable=broad-except
            # A mistake of the pack's own must not take the other cases with it.
            text = f"{type(error).__name__}: {error}"
            return [Result(name, "fail", message=text) for name in case.names()], []
        for result in results:
            if self.stopped and result.status != "pass":
                result.status, result.message = "skip", NOT_RUN + self.stopped
            elif result.status == "timeout" and left < case.limit:
                result.message += f"; the {self.minutes:g} minutes were over"
        return results, more
