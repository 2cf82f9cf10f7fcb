"""Names under which other chat programs have our commands."""

from collections.abc import Mapping
from typing import Final

OF_OTHERS: Final[Mapping[str, str]] = {
    name: ours
    for ours, names in {
        "/add": "/unban",
        "/block": "/ignore /mute",
        "/channels": "/list /ls /rooms",
        "/clear": "/cls",
        "/copy": "/yank",
        "/create": "/new",
        "/delete": "/rm /undo /unsend",
        "/edit": "/fix /s",
        "/export": "/backup /download /log /save",
        "/forget": "/close",
        "/goto": "/date /jump /scroll",
        "/help": "/? /commands /h /usage",
        "/info": "/about",
        "/invite": "/share /uninvite",
        "/join": "/go /j /switch /window",
        "/kick": "/ban /remove",
        "/leave": "/part",
        "/members": "/roles",
        "/mentions": "/highlights /notify",
        "/msg": "/dm /notice /query /tell /w /whisper",
        "/nick": "/name /rename",
        "/pin": "/bookmark /star",
        "/quit": "/bye /disconnect /exit /logout /q",
        "/role": "/demote /deop /mod /op /promote",
        "/search": "/find",
        "/settings": "/config /options /preferences /prefs",
        "/theme": "/dark /light",
        "/topic": "/subject",
        "/unblock": "/unignore /unmute",
        "/unpin": "/unstar",
        "/who": "/names /nicks /online /people /users",
    }.items()
    for name in names.split()
}
"""Our command by such a name, both with their slash."""
