"""The module `pwd`: the users that /etc/passwd lists."""

from _coldframe import named_tuples as tuples

struct_passwd = tuples.make("pwd.struct_passwd", "pw_name pw_passwd pw_uid pw_gid pw_gecos pw_dir pw_shell")


def getpwall():
    """Returns all users."""
    return [struct_passwd(user) for user in tuples.rows("/etc/passwd", 7, (2, 3))]


def getpwuid(uid, /):
    """Returns the user with a number."""
    for user in getpwall():
        if user.pw_uid == uid:
            return user
    raise KeyError(f"getpwuid(): uid not found: {uid}")


def getpwnam(name, /):
    """Returns the user with a name."""
    for user in getpwall():
        if user.pw_name == name:
            return user
    raise KeyError(f"getpwnam(): name not found: {name!r}")
