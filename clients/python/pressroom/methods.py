"""Methods: flows as methods of both clients, with their parameters, documentation and types."""

import inspect
from collections.abc import Callable, Coroutine
from functools import cache, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, get_args, get_origin, get_type_hints, overload

from pressroom.exchange import Emit, Flow, StreamFlow
from pressroom.runners import AsyncRunner, AsyncStream, BlockingRunner, Stream
from pressroom.service import Service

P = ParamSpec("P")
T = TypeVar("T")


class Blocking:
    """A client whose methods block."""

    _service: Service
    _runner: BlockingRunner


class Awaiting:
    """A client whose methods are awaited."""

    _service: Service
    _runner: AsyncRunner


class Method(Generic[P, T]):
    """A method that carries out a flow: a function of Pressroom, a coroutine function of AsyncPressroom."""

    def __init__(self, flow: Callable[Concatenate[Service, P], Flow[T]]) -> None:
        self.flow = flow

    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Any]: ...
    def __get__(self, client: Blocking | Awaiting | None, owner: type) -> Any:
        return _bound(self.flow, client, owner)


class StreamMethod(Generic[P, T]):
    """A method that returns a Stream of a flow's values, or an AsyncStream."""

    def __init__(self, flow: Callable[Concatenate[Service, P], StreamFlow[T]]) -> None:
        self.flow = flow

    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, Stream[T]]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, AsyncStream[T]]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Any]: ...
    def __get__(self, client: Blocking | Awaiting | None, owner: type) -> Any:
        return _bound(self.flow, client, owner)


def _bound(flow: Callable[..., Any], client: Blocking | Awaiting | None, owner: type) -> Any:
    function = _function(flow, issubclass(owner, Awaiting))
    return function if client is None else function.__get__(client, owner)


@cache
def _function(flow: Callable[..., Any], is_awaited: bool) -> Any:
    """Return a function that carries out a flow, named and documented as the flow.

    Its signature shows each option, and the result. Raises TypeError for an option that the method does not have: the
    service would ignore it."""

    def method(client: Any, /, *arguments: Any, **options: Any) -> Any:
        for name in options:
            if name not in shown:
                raise TypeError(f"{flow.__name__}() has no option {name!r}")
        carry_out = client._runner.run if emitted is None else client._runner.stream
        return carry_out(flow(client._service, *arguments, **options))

    update_wrapper(method, flow)
    signature = inspect.signature(flow)
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for parameter in list(signature.parameters.values())[1:]:
        parameters += _options(parameter) if parameter.kind is inspect.Parameter.VAR_KEYWORD else [parameter]
    shown = {parameter.name for parameter in parameters}
    steps, _, result = get_args(signature.return_annotation)
    # A stream is a Generator[Step | Emit[T], Any, None].
    emitted = next((get_args(step)[0] for step in get_args(steps) if get_origin(step) is Emit), None)
    if emitted is not None:
        stream: Any = AsyncStream if is_awaited else Stream
        result = stream[emitted]
    described: Any = method
    described.__signature__ = inspect.Signature(parameters, return_annotation=result)
    return method


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    (options,) = get_args(parameter.annotation)
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in get_type_hints(options).items()
    ]
