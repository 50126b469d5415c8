"""The three exceptions that the message loop tells apart."""


class RepairableException(Exception):
    """The model is told and may try again."""


class InterventionException(Exception):
    """The person wrote: the rest of this turn is skipped."""


class HandledException(Exception):
    """Already told: goes up to the end of the chain."""
