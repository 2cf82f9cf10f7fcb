from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Ending(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENDING_UNSPECIFIED: _ClassVar[Ending]
    ENDING_SETTLED: _ClassVar[Ending]
    ENDING_DECLINED: _ClassVar[Ending]
    ENDING_LEAF_TOO_LARGE: _ClassVar[Ending]
    ENDING_TOO_MANY_QUESTIONS: _ClassVar[Ending]
    ENDING_TOO_MANY_DIFFERENCES: _ClassVar[Ending]
ENDING_UNSPECIFIED: Ending
ENDING_SETTLED: Ending
ENDING_DECLINED: Ending
ENDING_LEAF_TOO_LARGE: Ending
ENDING_TOO_MANY_QUESTIONS: Ending
ENDING_TOO_MANY_DIFFERENCES: Ending

class Claim(_message.Message):
    __slots__ = ("salt", "floor")
    SALT_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    salt: bytes
    floor: int
    def __init__(self, salt: _Optional[bytes] = ..., floor: _Optional[int] = ...) -> None: ...

class Proof(_message.Message):
    __slots__ = ("salt", "floor", "count", "digest", "aside")
    SALT_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ASIDE_FIELD_NUMBER: _ClassVar[int]
    salt: bytes
    floor: int
    count: int
    digest: bytes
    aside: Aside
    def __init__(self, salt: _Optional[bytes] = ..., floor: _Optional[int] = ..., count: _Optional[int] = ..., digest: _Optional[bytes] = ..., aside: _Optional[_Union[Aside, _Mapping]] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("count", "digest", "aside")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ASIDE_FIELD_NUMBER: _ClassVar[int]
    count: int
    digest: bytes
    aside: Aside
    def __init__(self, count: _Optional[int] = ..., digest: _Optional[bytes] = ..., aside: _Optional[_Union[Aside, _Mapping]] = ...) -> None: ...

class Aside(_message.Message):
    __slots__ = ("hashes",)
    HASHES_FIELD_NUMBER: _ClassVar[int]
    hashes: bytes
    def __init__(self, hashes: _Optional[bytes] = ...) -> None: ...

class Ask(_message.Message):
    __slots__ = ("level", "indexes")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    INDEXES_FIELD_NUMBER: _ClassVar[int]
    level: int
    indexes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, level: _Optional[int] = ..., indexes: _Optional[_Iterable[int]] = ...) -> None: ...

class Child(_message.Message):
    __slots__ = ("index", "hash", "count")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    index: int
    hash: bytes
    count: int
    def __init__(self, index: _Optional[int] = ..., hash: _Optional[bytes] = ..., count: _Optional[int] = ...) -> None: ...

class Node(_message.Message):
    __slots__ = ("index", "children")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    index: int
    children: _containers.RepeatedCompositeFieldContainer[Child]
    def __init__(self, index: _Optional[int] = ..., children: _Optional[_Iterable[_Union[Child, _Mapping]]] = ...) -> None: ...

class Hashes(_message.Message):
    __slots__ = ("level", "nodes")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    level: int
    nodes: _containers.RepeatedCompositeFieldContainer[Node]
    def __init__(self, level: _Optional[int] = ..., nodes: _Optional[_Iterable[_Union[Node, _Mapping]]] = ...) -> None: ...

class Leaf(_message.Message):
    __slots__ = ("index", "rows")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    index: int
    rows: bytes
    def __init__(self, index: _Optional[int] = ..., rows: _Optional[bytes] = ...) -> None: ...

class Leaves(_message.Message):
    __slots__ = ("leaves",)
    LEAVES_FIELD_NUMBER: _ClassVar[int]
    leaves: _containers.RepeatedCompositeFieldContainer[Leaf]
    def __init__(self, leaves: _Optional[_Iterable[_Union[Leaf, _Mapping]]] = ...) -> None: ...

class End(_message.Message):
    __slots__ = ("ending",)
    ENDING_FIELD_NUMBER: _ClassVar[int]
    ending: Ending
    def __init__(self, ending: _Optional[_Union[Ending, str]] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("claim", "proof", "verdict", "ask", "hashes", "leaves", "end")
    CLAIM_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    HASHES_FIELD_NUMBER: _ClassVar[int]
    LEAVES_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    claim: Claim
    proof: Proof
    verdict: Verdict
    ask: Ask
    hashes: Hashes
    leaves: Leaves
    end: End
    def __init__(self, claim: _Optional[_Union[Claim, _Mapping]] = ..., proof: _Optional[_Union[Proof, _Mapping]] = ..., verdict: _Optional[_Union[Verdict, _Mapping]] = ..., ask: _Optional[_Union[Ask, _Mapping]] = ..., hashes: _Optional[_Union[Hashes, _Mapping]] = ..., leaves: _Optional[_Union[Leaves, _Mapping]] = ..., end: _Optional[_Union[End, _Mapping]] = ...) -> None: ...
