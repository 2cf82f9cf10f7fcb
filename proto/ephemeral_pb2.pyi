from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Ephemeral(_message.Message):
    __slots__ = ("version", "typing")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TYPING_FIELD_NUMBER: _ClassVar[int]
    version: int
    typing: Typing
    def __init__(self, version: _Optional[int] = ..., typing: _Optional[_Union[Typing, _Mapping]] = ...) -> None: ...

class Typing(_message.Message):
    __slots__ = ("nick",)
    NICK_FIELD_NUMBER: _ClassVar[int]
    nick: str
    def __init__(self, nick: _Optional[str] = ...) -> None: ...
