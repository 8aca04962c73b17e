"""Hosts ask whoever sees the most that nobody covers, by the byte: a policy of one's own in thirty lines."""

import numpy as np

import covey


class MostUncovered(covey.Policy):
    summary = "hosts ask whoever sees the most that nobody covers, by the byte"
    looks_at = "score"  # coverage, and no history of objects
    least_cells = 4.0

    def plan(self, view: covey.View) -> list[int]:
        hidden = np.ones(len(view.coverage))
        hidden[view.host_cells] = 0.0
        worth: list[tuple[float, int]] = []
        # A contributor's own cells are covered because it reports: what counts is what the host does not see itself.
        for agents, new in ((view.contributors, hidden), (view.candidates, 1.0 - view.coverage)):
            sums = np.concatenate(([0.0], np.cumsum(new[agents.cells])))
            cells = sums[agents.offsets[1:]] - sums[agents.offsets[:-1]]
            by_byte = cells / np.maximum(agents.report_bytes + agents.broadcast_bytes, 1.0)
            good = cells >= self.least_cells
            worth += zip(-by_byte[good], agents.id[good].tolist())
        # The most worthy first; of equals the lower id. The host takes whoever fits.
        return [agent for _, agent in sorted(worth)]


if __name__ == "__main__":
    arms = ["cam-only", "random@0.03", "most-uncovered@0.03"]
    print(covey.run("scenarios/toy/blind-junction/scenario.toml", arms, range(1, 7), warmup_s=5, measure_s=40,
                    policies={"most-uncovered": MostUncovered}))
