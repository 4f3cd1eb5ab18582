"""Redis away: the errors of its client when it can't be reached."""

from redis.exceptions import RedisError

#: The client translates most. A connection that was reset while something was sent is a RuntimeError of uvloop's ("the
#: handler is closed"), which passed as nobody's: the task that hears of ended jobs, or writes counts, ended for good.
REDIS_AWAY = (RedisError, OSError, RuntimeError)
