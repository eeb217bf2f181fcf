"""What Triton's code for a need assumes: less than the need's classes where the kernel keeps Triton from looking at them.

Seen alike in Triton 3.6.0, 3.7.1 and 3.9.0: an argument in `do_not_specialize` is neither folded nor hinted, one in
`do_not_specialize_on_alignment` is folded and not hinted, an annotated int is hinted and not folded.
"""

from __future__ import annotations

import msgspec

from build_capture.capture.policy.generic import generic
from build_capture.capture.records import Kernel, KernelParameter
from build_capture.plan.needs import Class, Need, Parameter


def code_of(need: Need, kernel: Kernel) -> Need:
    """The need whose classes are those that the code compiled for `need` assumes; several needs may have one."""
    declared = {parameter.name: parameter for parameter in kernel.parameters}
    parameters = [_assumed(parameter, declared[parameter.name]) for parameter in need.parameters]
    return msgspec.structs.replace(need, parameters=parameters)


def _assumed(parameter: Parameter, declared: KernelParameter) -> Parameter:
    folded, hinted = not (declared.unspecialized or declared.typed), not (declared.unspecialized or declared.unhinted)
    if (parameter.class_ is Class.ONE and not folded) or (parameter.hinted and not hinted):
        return generic(parameter)
    return parameter
