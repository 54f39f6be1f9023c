"""The module `grp`: the groups that /etc/group lists."""

from _coldframe import named_tuples as tuples

struct_group = tuples.make("grp.struct_group", "gr_name gr_passwd gr_gid gr_mem")


def getgrall():
    """Returns all groups."""
    return [
        struct_group((name, password, gid, members.split(",") if members else []))
        for name, password, gid, members in tuples.rows("/etc/group", 4, (2,))
    ]


def getgrgid(id):
    """Returns the group with a number."""
    for group in getgrall():
        if group.gr_gid == id:
            return group
    raise KeyError(f"getgrgid(): gid not found: {id}")


def getgrnam(name):
    """Returns the group with a name."""
    for group in getgrall():
        if group.gr_name == name:
            return group
    raise KeyError(f"getgrnam(): name not found: {name!r}")
