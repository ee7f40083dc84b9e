"""How a long list is cut into pages."""


def pages(total, size):
    return total // size + 1


def page(items, number, size):
    """The entries of a page; pages are counted from 1."""
    return items[(number - 1) * size : number * size]
