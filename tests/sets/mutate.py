"""Breaks sets at random: any field of the JSON, or a claim of an entry that is then sealed again."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec

from build_capture.sets.model import SetKernel
from build_capture.sets.seal import sealed
from tests.sets.entries import set_of

_VALUES: list[Any] = [None, True, False, 3, -1, 0, 1 << 31, 1 << 70, 1.5, "x", "", "a b", "../x", "a\n", "\x7f", "é", [], {}, [3], {"int": 1}, {"a b": "c"}]


def mutate_text(random: Random, text: bytes) -> bytes:
    """A set of which one field is gone, another, or new."""
    document = json.loads(text)
    place = document
    while random.random() < 0.85:
        inner = [value for value in (place.values() if isinstance(place, dict) else place) if isinstance(value, (dict, list)) and value]
        if not inner:
            break
        place = random.choice(inner)
    key = random.choice(list(place)) if isinstance(place, dict) else random.randrange(len(place))
    if random.random() < 0.3:
        del place[key]
    elif isinstance(place, list) and random.random() < 0.3:
        place.append(place[key])
    else:
        place[key] = random.choice(_VALUES)
    return json.dumps(document).encode()


def mutate_claim(random: Random, kernels: list[SetKernel]) -> bytes:
    """A sealed set of which one entry claims something else, and is sealed as it then is."""
    place = random.randrange(len(kernels))
    kernel = kernels[place]
    params = list(kernel.params)
    if params and random.random() < 0.6:
        chosen = random.randrange(len(params))
        field = random.choice(["div16", "nospec", "assumes16"])
        params[chosen] = msgspec.structs.replace(params[chosen], **{field: not getattr(params[chosen], field)})
    changes = [
        {},
        {"alias": not kernel.alias},
        {"hash": "hash0"},
        {"shared": 512},
        {"num_warps": 16},
        {"name": "_g"},
        {"fn": "_g"},
        {"consts": {}},
        {"texts": {"T": "t"}},
    ]
    changed = sealed(msgspec.structs.replace(kernel, params=params, **random.choice(changes)))
    return msgspec.json.encode(set_of(*kernels[:place], changed, *kernels[place + 1 :]))
