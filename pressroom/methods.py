"""Methods: flows as the methods of a client, with their parameters, documents and types."""

import inspect
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, get_args, get_origin, get_type_hints

from pressroom.exchange import Emit, Flow, StreamFlow
from pressroom.runners import AsyncRunner, BlockingRunner
from pressroom.service import Service
from pressroom.streams import AsyncStream, Stream

P = ParamSpec("P")
T = TypeVar("T")


class Blocking(Protocol):
    """A client whose methods block."""

    _service: Service
    _runner: BlockingRunner


class Waiting(Protocol):
    """A client whose methods are awaited."""

    _service: Service
    _runner: AsyncRunner


def blocking(flow: Callable[Concatenate[Service, P], Flow[T]]) -> Callable[Concatenate[Any, P], T]:
    """Return a method that carries out a flow."""

    def method(self: Blocking, /, *arguments: P.args, **options: P.kwargs) -> T:
        return self._runner.run(_begun(method, flow, self._service, *arguments, **options))

    return _described(method, flow)


def awaited(
    flow: Callable[Concatenate[Service, P], Flow[T]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return a coroutine method that carries out a flow."""

    async def method(self: Waiting, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._runner.run(_begun(method, flow, self._service, *arguments, **options))

    return _described(method, flow)


def streamed(flow: Callable[Concatenate[Service, P], StreamFlow[T]]) -> Callable[Concatenate[Any, P], Stream[T]]:
    """Return a method whose values are iterated over."""

    def method(self: Blocking, /, *arguments: P.args, **options: P.kwargs) -> Stream[T]:
        return self._runner.stream(_begun(method, flow, self._service, *arguments, **options))

    return _described(method, flow, within=Stream)


def async_streamed(
    flow: Callable[Concatenate[Service, P], StreamFlow[T]],
) -> Callable[Concatenate[Any, P], AsyncStream[T]]:
    """Return a method whose values are iterated over by `async for`."""

    def method(self: Waiting, /, *arguments: P.args, **options: P.kwargs) -> AsyncStream[T]:
        return self._runner.stream(_begun(method, flow, self._service, *arguments, **options))

    return _described(method, flow, within=AsyncStream)


def _begun(
    method: Callable[..., Any],
    flow: Callable[Concatenate[Service, P], T],
    service: Service,
    *arguments: P.args,
    **options: P.kwargs,
) -> T:
    """Begin a flow. Raises TypeError for an option that the method does not have, which the service would ignore."""
    parameters = inspect.signature(method).parameters
    for name in options:
        if name not in parameters:
            raise TypeError(f"{method.__name__}() has no option {name!r}")
    return flow(service, *arguments, **options)


def _described(method: Callable[P, T], flow: Callable[..., Any], *, within: Any = None) -> Callable[P, T]:
    """Give a method its name and documents, and a signature that shows each option and what is returned."""
    update_wrapper(method, flow)
    signature = inspect.signature(flow)
    shown = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for parameter in list(signature.parameters.values())[1:]:
        shown += _options(parameter) if parameter.kind is inspect.Parameter.VAR_KEYWORD else [parameter]
    result = _result_of(signature.return_annotation)
    described: Any = method
    described.__signature__ = inspect.Signature(shown, return_annotation=within[result] if within else result)
    return method


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    (options,) = get_args(parameter.annotation)
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in get_type_hints(options).items()
    ]


def _result_of(flow: Any) -> Any:
    """Return what a flow returns, or what it emits: Generator[Step | Emit[T], Any, None]."""
    steps, _, returned = get_args(flow)
    emitted = [get_args(step)[0] for step in get_args(steps) if get_origin(step) is Emit]
    return emitted[0] if emitted else returned
