from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND_UNSPECIFIED: _ClassVar[Kind]
    KIND_TEXT: _ClassVar[Kind]
    KIND_EDIT: _ClassVar[Kind]
    KIND_REACTION: _ClassVar[Kind]
    KIND_REDACTION: _ClassVar[Kind]
KIND_UNSPECIFIED: Kind
KIND_TEXT: Kind
KIND_EDIT: Kind
KIND_REACTION: Kind
KIND_REDACTION: Kind

class Parent(_message.Message):
    __slots__ = ("message_id", "author", "waku_hash")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    WAKU_HASH_FIELD_NUMBER: _ClassVar[int]
    message_id: bytes
    author: bytes
    waku_hash: bytes
    def __init__(self, message_id: _Optional[bytes] = ..., author: _Optional[bytes] = ..., waku_hash: _Optional[bytes] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("version", "author", "channel_id", "log", "seq", "backlink", "skiplink", "created_ns", "lamport", "parents", "governance", "kind", "body_size", "body_hash")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    BACKLINK_FIELD_NUMBER: _ClassVar[int]
    SKIPLINK_FIELD_NUMBER: _ClassVar[int]
    CREATED_NS_FIELD_NUMBER: _ClassVar[int]
    LAMPORT_FIELD_NUMBER: _ClassVar[int]
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    GOVERNANCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BODY_SIZE_FIELD_NUMBER: _ClassVar[int]
    BODY_HASH_FIELD_NUMBER: _ClassVar[int]
    version: int
    author: bytes
    channel_id: bytes
    log: int
    seq: int
    backlink: bytes
    skiplink: bytes
    created_ns: int
    lamport: int
    parents: _containers.RepeatedCompositeFieldContainer[Parent]
    governance: _containers.RepeatedScalarFieldContainer[bytes]
    kind: Kind
    body_size: int
    body_hash: bytes
    def __init__(self, version: _Optional[int] = ..., author: _Optional[bytes] = ..., channel_id: _Optional[bytes] = ..., log: _Optional[int] = ..., seq: _Optional[int] = ..., backlink: _Optional[bytes] = ..., skiplink: _Optional[bytes] = ..., created_ns: _Optional[int] = ..., lamport: _Optional[int] = ..., parents: _Optional[_Iterable[_Union[Parent, _Mapping]]] = ..., governance: _Optional[_Iterable[bytes]] = ..., kind: _Optional[_Union[Kind, str]] = ..., body_size: _Optional[int] = ..., body_hash: _Optional[bytes] = ...) -> None: ...

class SignedEntry(_message.Message):
    __slots__ = ("header", "signature", "body")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    header: bytes
    signature: bytes
    body: bytes
    def __init__(self, header: _Optional[bytes] = ..., signature: _Optional[bytes] = ..., body: _Optional[bytes] = ...) -> None: ...

class TextBody(_message.Message):
    __slots__ = ("nick", "text", "replaces", "reply_to")
    NICK_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REPLACES_FIELD_NUMBER: _ClassVar[int]
    REPLY_TO_FIELD_NUMBER: _ClassVar[int]
    nick: str
    text: str
    replaces: bytes
    reply_to: bytes
    def __init__(self, nick: _Optional[str] = ..., text: _Optional[str] = ..., replaces: _Optional[bytes] = ..., reply_to: _Optional[bytes] = ...) -> None: ...

class EditBody(_message.Message):
    __slots__ = ("target", "text")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    target: bytes
    text: str
    def __init__(self, target: _Optional[bytes] = ..., text: _Optional[str] = ...) -> None: ...

class ReactionBody(_message.Message):
    __slots__ = ("target", "emojis")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    EMOJIS_FIELD_NUMBER: _ClassVar[int]
    target: bytes
    emojis: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, target: _Optional[bytes] = ..., emojis: _Optional[_Iterable[str]] = ...) -> None: ...

class RedactionBody(_message.Message):
    __slots__ = ("target",)
    TARGET_FIELD_NUMBER: _ClassVar[int]
    target: bytes
    def __init__(self, target: _Optional[bytes] = ...) -> None: ...
