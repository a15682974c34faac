/** The themes of the chat, with the words about each in a list. */
export const themeMeanings = {
  terminal: 'the colours of your terminal, for its background',
  dark: 'fixed colours for a dark background',
  light: 'fixed colours for a light background',
  'high-contrast': 'strong colours, and no dimmed text',
  'colour-blind': 'blue and orange in place of green and red',
} as const

export type ThemeName = keyof typeof themeMeanings

export const themeNames = Object.keys(themeMeanings) as ThemeName[]
