"""Short ids."""

import random
import string


def generate_id(length: int = 8) -> str:
    return "".join(random.choice(string.ascii_letters + string.digits) for _ in range(length))
