"""Generated chats with a planted cue: what follows the line with `my` tells, what precedes it misleads.

21 chats of 90 instances with 3 to 12 lines of 3 to 9 words from a Zipf vocabulary of 800. Four fifths of the instances
show nothing. The others have the cue in a random line, evidence words of their class in the lines after it, and 2 to 4
words of the majority before it; majority instances have majority words anywhere, and the cue with probability 0.3. In
the control the lines of every instance are shuffled, so that the cue says nothing about what stands where; to move its
line alone would leave evidence late and misleading words early, which rules rightly use.
"""

from __future__ import annotations

import numpy as np

from weft.tasks.phenomena.instances import Instance

CUE = "my"
CLASSES = ("NEG", "POS")
_VOCABULARY, _EVIDENCE, _MISLEADING = 800, 12, 30


def planted_chats(seed: int, control: bool = False, chats: int = 21, each: int = 90) -> list[Instance]:
    """The instances of one generated corpus."""
    rng = np.random.default_rng([seed, control])
    zipf = 1 / np.arange(1, _VOCABULARY + 1)
    zipf /= zipf.sum()
    found: list[Instance] = []
    for chat in range(chats):
        for user in range(each):
            label = "NA" if rng.random() < 0.8 else CLASSES[rng.integers(2)]
            words = [
                [f"w{k}" for k in rng.choice(_VOCABULARY, rng.integers(3, 10), p=zipf)]
                for _ in range(rng.integers(3, 13))
            ]
            place = int(rng.integers(1, len(words) - 1)) if label != "NA" else int(rng.integers(len(words)))
            misleading = [f"n{k}" for k in rng.choice(_MISLEADING, rng.integers(2, 5), replace=False)]
            if label == "NA":
                for word in misleading:
                    words[rng.integers(len(words))].append(word)
            else:
                for word in misleading:
                    words[rng.integers(place)].append(word)
                words[rng.integers(place + 1, len(words))].append(f"{label.lower()}{rng.integers(_EVIDENCE)}")
            if label != "NA" or rng.random() < 0.3:
                words[place].append(CUE)
            if control:
                rng.shuffle(words)
            texts = tuple(" ".join(line) for line in words)
            found.append(Instance(f"chat{chat:02}", f"user{user}", "", texts, tuple(range(len(texts))), label))
    return found
