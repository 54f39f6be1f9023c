"""Records of `logging` into a stream: formats and levels."""

import io
import logging


def run():
    stream = io.StringIO()
    logger = logging.Logger("benchmark", logging.INFO)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    logger.addHandler(handler)
    for number in range(6_000):
        logger.debug("hidden %d", number)
        logger.warning("shown %d of %s", number, "many")
    return len(stream.getvalue())
