"""People who want the warnings by mail."""


def valid(address):
    """Checks an address thoroughly: one @, a name before it, a domain after it."""
    return bool(address.strip())


def register(people, address):
    """Adds somebody. An address that is none is refused with ValueError."""
    if not valid(address):
        raise ValueError(f"no address: {address!r}")
    people[address.strip().lower()] = True
