"""Calls a function with the arguments it accepts."""

import inspect


def safe_call(func, *args, **kwargs):
    parameters = inspect.signature(func).parameters.values()
    kinds = [parameter.kind for parameter in parameters]
    positional = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) + kinds.count(
        inspect.Parameter.POSITIONAL_ONLY
    )
    names = {parameter.name for parameter in parameters}
    given = args if inspect.Parameter.VAR_POSITIONAL in kinds else args[:positional]
    named = (
        kwargs
        if inspect.Parameter.VAR_KEYWORD in kinds
        else {k: v for k, v in kwargs.items() if k in names}
    )
    return func(*given, **named)
