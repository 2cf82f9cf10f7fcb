"""Each key that is bound, heard or named in a sentence is one of the table."""

import ast
import importlib
import inspect
import pkgutil
import re

from textual.binding import Binding
from textual.dom import DOMNode

import chat_tui
from chat_tui.app.app import ChatApp
from chat_tui.keys.table import BY_ID
from tests.support.trees import trees


def nodes() -> list[type[DOMNode]]:
    """All applications, screens and widgets of ours."""
    found: dict[str, type[DOMNode]] = {}
    for module in pkgutil.walk_packages(chat_tui.__path__, "chat_tui."):
        if module.name.endswith("__main__"):
            continue
        for name, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(one, DOMNode) and one.__module__.startswith("chat_tui."):
                found[f"{one.__module__}.{name}"] = one
    return list(found.values())


def own_bindings(node: type[DOMNode]) -> list[Binding]:
    own = node.__dict__.get("BINDINGS", [])
    assert all(isinstance(binding, Binding) for binding in own)
    return list(own)


def test_no_key_is_bound_beside_the_table() -> None:
    bound = {
        (node.__name__, binding.key)
        for node in nodes()
        for binding in own_bindings(node)
        if binding.id not in BY_ID
    }

    assert bound == {("DemoApp", "ctrl+c")}  # which no input may lose, and Textual binds as well


def test_every_row_of_the_table_is_heard_by_somebody_who_can_do_it() -> None:
    heard: set[str] = set()
    for node in nodes():
        for binding in own_bindings(node):
            owner, _, action = binding.action.partition("(")[0].rpartition(".")
            can = ChatApp if owner == "app" else node
            assert hasattr(can, f"action_{action}") or not callable(can), (node, binding)
            heard.add(str(binding.id))

    assert heard >= set(BY_ID)


def test_every_sentence_that_names_a_key_names_one_of_the_table() -> None:
    named = {
        id_
        for _, tree in trees("chat_tui")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for id_ in re.findall(r"\{([a-z_]+)\}", node.value)
    }

    assert named - set(BY_ID) == set()
    assert len(named) > 40
