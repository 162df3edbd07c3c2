"""What the skeleton of a tracked hand is made of, for every framework."""

import numpy as np


def generations(parent):
    """The bones by their distance from the root: those of one generation are one batch of products."""
    depth = []
    for bone in parent:
        depth.append(0 if bone < 0 else depth[bone] + 1)
    return [np.flatnonzero(np.array(depth) == level) for level in range(max(depth) + 1)]


def angles_of_bones():
    """Which angle bends and which spreads each bone; 26 stands for none."""
    bend, spread = np.full(22, 26), np.full(22, 26)
    for finger in range(5):
        bone, angle = 4 * finger + 2, 4 * finger + 6
        bend[bone : bone + 3] = angle, angle + 2, angle + 3
        spread[bone] = angle + 1
    return bend, spread
