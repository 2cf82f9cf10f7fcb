"""Short names of common emoji, as `:tada:`, for keyboards that have none.

Each is one character and two cells wide everywhere: nothing here needs a variation selector, about
which terminals disagree.
"""

from typing import Final

_TABLE: Final = """
alarm:⏰ alien:👽 anchor:⚓ angry:😠 apple:🍎 art:🎨 astonished:😲 avocado:🥑
baby:👶 back:🔙 balloon:🎈 banana:🍌 basketball:🏀 battery:🔋 bear:🐻 bee:🐝 beer:🍺
beers:🍻 bell:🔔 bike:🚲 bird:🐦 birthday:🎂 black_heart:🖤 blue_circle:🔵
blue_heart:💙 blush:😊 book:📖 books:📚 boom:💥 bow:🙇 brain:🧠 bread:🍞
broken_heart:💔 bug:🐛 bulb:💡 burger:🍔 bus:🚌 butterfly:🦋 cactus:🌵 cake:🍰
calendar:📅 call_me:🤙 car:🚗 carrot:🥕 cat:🐱 champagne:🍾 chart:📈 check:✅
checkered_flag:🏁 cheese:🧀 cherries:🍒 chicken:🐔 chocolate:🍫 clap:👏 cloud:⛅
clover:🍀 clown:🤡 cocktail:🍸 coffee:☕ cold:🥶 cold_sweat:😰 computer:💻
confetti:🎊 confused:😕 cookie:🍪 cool:🆒 cow:🐮 cowboy:🤠 crab:🦀 crazy:🤪
credit_card:💳 cross:❌ crossed_fingers:🤞 cry:😢 dancer:💃 dart:🎯 dash:💨 devil:😈
dice:🎲 disappointed:😞 dizzy:😵 dog:🐶 down:🔽 drool:🤤 ear:👂 earth:🌍
exclamation:❗ expressionless:😑 eye_roll:🙄 eyes:👀 facepalm:🤦 fearful:😨 fire:🔥
fish:🐟 fist:✊ flower:🌸 flushed:😳 fork_knife:🍴 fox:🦊 free:🆓 fries:🍟 frog:🐸
frown:🙁 game:🎮 ghost:👻 gift:🎁 grapes:🍇 green_circle:🟢 green_heart:💚
grimace:😬 grin:😁 grinning:😀 guitar:🎸 hammer:🔨 handshake:🤝 headphones:🎧
hear_no_evil:🙉 purple_heart:💜 heart_eyes:😍 hot:🥵 hourglass:⏳ house:🏠 hug:🤗
hundred:💯 ice_cream:🍦 inbox:📥 innocent:😇 joy:😂 key:🔑 kiss:😘 koala:🐨 lamp:🔦
laughing:😆 lemon:🍋 link:🔗 lion:🦁 lock:🔒 lying:🤥 magnet:🧲 mail:📧 mask:😷
medal:🏅 memo:📝 microphone:🎤 microscope:🔬 mind_blown:🤯 money:💰
money_face:🤑 monkey:🐵 monocle:🧐 moon:🌙 mouse:🐭 movie:🎬 muscle:💪 mushroom:🍄
nauseated:🤢 nerd:🤓 neutral:😐 new:🆕 no_bell:🔕 no_entry:⛔ octopus:🐙 office:🏢
ok:🆗 ok_hand:👌 oops:🤭 open_hands:👐 open_mouth:😮 orange_heart:🧡 outbox:📤
owl:🦉 package:📦 panda:🐼 paperclip:📎 party:🥳 pencil:📝 penguin:🐧 pensive:😔
phone:📱 pig:🐷 pill:💊 pizza:🍕 pleading:🥺 plug:🔌 point_down:👇
point_left:👈 point_right:👉 point_up:👆 poop:💩 popcorn:🍿 pray:🙏 punch:👊
pushpin:📌 question:❓ rage:😡 rainbow:🌈 raised_eyebrow:🤨 raised_hand:✋
raised_hands:🙌 ramen:🍜 red_circle:🔴 heart:💗 relieved:😌 robot:🤖 rock_on:🤘
rocket:🚀 rofl:🤣 rose:🌹 runner:🏃 satellite:📡 scream:😱 see_no_evil:🙈 ship:🚢
shrug:🤷 shush:🤫 sick:🤒 skull:💀 sleeping:😴 sleepy:😪 slight_smile:🙂 smile:😄
smiley:😃 smirk:😏 snail:🐌 snake:🐍 sneeze:🤧 snowman:⛄ sob:😭 soccer:⚽ soon:🔜
sos:🆘 sparkles:✨ sparkling_heart:💖 speak_no_evil:🙊 speech:💬 star:⭐
star_struck:🤩 stop:🛑 strawberry:🍓 sun:🌞 sunflower:🌻 sunglasses:😎 sushi:🍣
swear:🤬 sweat:😓 sweat_drops:💦 sweat_smile:😅 taco:🌮 tada:🎉 tea:🍵 telescope:🔭
tent:⛺ test_tube:🧪 thinking:🤔 thought:💭 thumbsdown:👎 thumbsup:👍 ticket:🎫
tired:😫 tongue:😛 train:🚆 tree:🌳 triumph:😤 trophy:🏆 turtle:🐢 unamused:😒
unicorn:🦄 unlock:🔓 up:🔼 upside_down:🙃 vomit:🤮 vulcan:🖖 warning:🚧 watch:⌚
wave:👋 weary:😩 whale:🐳 wine:🍷 wink:😉 worried:😟 wrench:🔧 yawn:🥱
yellow_heart:💛 yum:😋 zap:⚡ zipper:🤐 zzz:💤
"""

EMOJI: Final[dict[str, str]] = {
    name: emoji for name, _, emoji in (pair.partition(":") for pair in _TABLE.split())
}
"""By name."""


def named(beginning: str) -> list[str]:
    """Return the emoji whose names begin so, the shortest name first: what is meant most often."""
    names = [name for name in EMOJI if name.startswith(beginning)]
    return list(dict.fromkeys(EMOJI[name] for name in sorted(names, key=len)))
