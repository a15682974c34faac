/** Drawn once and kept: a font at run time would cost a start more than the whole screen. */
export const largeLetters: readonly string[] = [
  '██████  ██████  █████   ██   ██   ████   ██  ██████  ██████',
  '  ██    ██      ██  ██  ███ ███  ██  ██  ██    ██    ██',
  '  ██    █████   █████   ███████  ██████  ██    ██    █████',
  '  ██    ██      ██ ██   ██ █ ██  ██  ██  ██    ██    ██',
  '  ██    ██████  ██  ██  ██   ██  ██  ██  ██    ██    ██████',
]

/** For a window in which the large ones have no room. */
export const smallLetters: readonly string[] = [
  '▀█▀ █▀▀ █▀▄ █▄ ▄█ ▄▀▄ █ ▀█▀ █▀▀',
  ' █  █▀  █▀▄ █ ▀ █ █▀█ █  █  █▀',
  ' ▀  ▀▀▀ ▀ ▀ ▀   ▀ ▀ ▀ ▀  ▀  ▀▀▀',
]
