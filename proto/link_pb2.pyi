from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class KeyType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RSA: _ClassVar[KeyType]
    ED25519: _ClassVar[KeyType]
RSA: KeyType
ED25519: KeyType

class PublicKey(_message.Message):
    __slots__ = ("type", "data")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    type: KeyType
    data: bytes
    def __init__(self, type: _Optional[_Union[KeyType, str]] = ..., data: _Optional[bytes] = ...) -> None: ...

class NoiseHandshakePayload(_message.Message):
    __slots__ = ("identity_key", "identity_sig")
    IDENTITY_KEY_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_SIG_FIELD_NUMBER: _ClassVar[int]
    identity_key: bytes
    identity_sig: bytes
    def __init__(self, identity_key: _Optional[bytes] = ..., identity_sig: _Optional[bytes] = ...) -> None: ...

class Open(_message.Message):
    __slots__ = ("protocol", "listen_port")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    LISTEN_PORT_FIELD_NUMBER: _ClassVar[int]
    protocol: str
    listen_port: int
    def __init__(self, protocol: _Optional[str] = ..., listen_port: _Optional[int] = ...) -> None: ...

class Proof(_message.Message):
    __slots__ = ("mac", "payloads_max")
    MAC_FIELD_NUMBER: _ClassVar[int]
    PAYLOADS_MAX_FIELD_NUMBER: _ClassVar[int]
    mac: bytes
    payloads_max: int
    def __init__(self, mac: _Optional[bytes] = ..., payloads_max: _Optional[int] = ...) -> None: ...

class Presence(_message.Message):
    __slots__ = ("channel_id", "nick", "away", "protocols", "features")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    NICK_FIELD_NUMBER: _ClassVar[int]
    AWAY_FIELD_NUMBER: _ClassVar[int]
    PROTOCOLS_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    channel_id: str
    nick: str
    away: str
    protocols: _containers.RepeatedScalarFieldContainer[str]
    features: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, channel_id: _Optional[str] = ..., nick: _Optional[str] = ..., away: _Optional[str] = ..., protocols: _Optional[_Iterable[str]] = ..., features: _Optional[_Iterable[str]] = ...) -> None: ...

class Ping(_message.Message):
    __slots__ = ("nonce", "wall_ns")
    NONCE_FIELD_NUMBER: _ClassVar[int]
    WALL_NS_FIELD_NUMBER: _ClassVar[int]
    nonce: int
    wall_ns: int
    def __init__(self, nonce: _Optional[int] = ..., wall_ns: _Optional[int] = ...) -> None: ...

class Pong(_message.Message):
    __slots__ = ("nonce", "wall_ns", "follows")
    NONCE_FIELD_NUMBER: _ClassVar[int]
    WALL_NS_FIELD_NUMBER: _ClassVar[int]
    FOLLOWS_FIELD_NUMBER: _ClassVar[int]
    nonce: int
    wall_ns: int
    follows: int
    def __init__(self, nonce: _Optional[int] = ..., wall_ns: _Optional[int] = ..., follows: _Optional[int] = ...) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Sds(_message.Message):
    __slots__ = ("channel_id", "payload")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    channel_id: bytes
    payload: bytes
    def __init__(self, channel_id: _Optional[bytes] = ..., payload: _Optional[bytes] = ...) -> None: ...

class Announce(_message.Message):
    __slots__ = ("payload",)
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    def __init__(self, payload: _Optional[bytes] = ...) -> None: ...

class GroupOp(_message.Message):
    __slots__ = ("channel_id", "content")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    channel_id: bytes
    content: bytes
    def __init__(self, channel_id: _Optional[bytes] = ..., content: _Optional[bytes] = ...) -> None: ...

class GroupHeartbeat(_message.Message):
    __slots__ = ("channel_id", "payload")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    channel_id: bytes
    payload: bytes
    def __init__(self, channel_id: _Optional[bytes] = ..., payload: _Optional[bytes] = ...) -> None: ...

class GroupSecret(_message.Message):
    __slots__ = ("channel_id", "number", "op", "secret")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    channel_id: bytes
    number: int
    op: bytes
    secret: bytes
    def __init__(self, channel_id: _Optional[bytes] = ..., number: _Optional[int] = ..., op: _Optional[bytes] = ..., secret: _Optional[bytes] = ...) -> None: ...

class GroupNotice(_message.Message):
    __slots__ = ("channel_id", "kind")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    channel_id: bytes
    kind: int
    def __init__(self, channel_id: _Optional[bytes] = ..., kind: _Optional[int] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("channel_id", "contents", "root")
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    ROOT_FIELD_NUMBER: _ClassVar[int]
    channel_id: bytes
    contents: _containers.RepeatedScalarFieldContainer[bytes]
    root: bytes
    def __init__(self, channel_id: _Optional[bytes] = ..., contents: _Optional[_Iterable[bytes]] = ..., root: _Optional[bytes] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("open", "proof", "presence", "ping", "pong", "goodbye", "sds", "announce", "group_op", "group_heartbeat", "group_secret", "group_notice", "state")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    PRESENCE_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    PONG_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    SDS_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_FIELD_NUMBER: _ClassVar[int]
    GROUP_OP_FIELD_NUMBER: _ClassVar[int]
    GROUP_HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    GROUP_SECRET_FIELD_NUMBER: _ClassVar[int]
    GROUP_NOTICE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    open: Open
    proof: Proof
    presence: Presence
    ping: Ping
    pong: Pong
    goodbye: Goodbye
    sds: Sds
    announce: Announce
    group_op: GroupOp
    group_heartbeat: GroupHeartbeat
    group_secret: GroupSecret
    group_notice: GroupNotice
    state: State
    def __init__(self, open: _Optional[_Union[Open, _Mapping]] = ..., proof: _Optional[_Union[Proof, _Mapping]] = ..., presence: _Optional[_Union[Presence, _Mapping]] = ..., ping: _Optional[_Union[Ping, _Mapping]] = ..., pong: _Optional[_Union[Pong, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ..., sds: _Optional[_Union[Sds, _Mapping]] = ..., announce: _Optional[_Union[Announce, _Mapping]] = ..., group_op: _Optional[_Union[GroupOp, _Mapping]] = ..., group_heartbeat: _Optional[_Union[GroupHeartbeat, _Mapping]] = ..., group_secret: _Optional[_Union[GroupSecret, _Mapping]] = ..., group_notice: _Optional[_Union[GroupNotice, _Mapping]] = ..., state: _Optional[_Union[State, _Mapping]] = ...) -> None: ...

class Invite(_message.Message):
    __slots__ = ("version", "name", "channel_id", "secret", "profile", "genesis", "ticket_seed")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    GENESIS_FIELD_NUMBER: _ClassVar[int]
    TICKET_SEED_FIELD_NUMBER: _ClassVar[int]
    version: int
    name: str
    channel_id: bytes
    secret: bytes
    profile: str
    genesis: bytes
    ticket_seed: bytes
    def __init__(self, version: _Optional[int] = ..., name: _Optional[str] = ..., channel_id: _Optional[bytes] = ..., secret: _Optional[bytes] = ..., profile: _Optional[str] = ..., genesis: _Optional[bytes] = ..., ticket_seed: _Optional[bytes] = ...) -> None: ...
