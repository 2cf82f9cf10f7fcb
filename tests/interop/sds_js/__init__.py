"""The npm package `@waku/sds` 0.0.8, unmodified, as a participant of our SDS channels."""
