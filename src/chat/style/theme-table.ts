import type { Env } from '../../base/env.ts'
import type { ThemeName } from '../../core/talk/themes.ts'
import type { Background, Paint, Theme } from './theme.ts'
import { bold, both, dark, light, named, none, plain, sgr, underline } from './theme.ts'

/** A colour of the 256 that are the same in every terminal, whatever its owner chose for the first sixteen. */
const fixed = (code: number) => sgr(`38;5;${code}`, 39)

/** The numbers of a theme's fixed colours, by their purpose. */
type Palette = {
  accent: number
  user: number
  good: number
  warn: number
  bad: number
  code: number
  hues: readonly [number, number, number]
  more: readonly [number, number]
}

function painted(over: Theme, palette: Palette, quiet: Paint = over.quiet): Theme {
  const [accent, user, good, warn, bad, code] = (['accent', 'user', 'good', 'warn', 'bad', 'code'] as const).map(
    (purpose) => fixed(palette[purpose]),
  ) as [Paint, Paint, Paint, Paint, Paint, Paint]
  const [first, second, third] = palette.hues
  const [fourth, fifth] = palette.more
  return {
    ...over,
    accent,
    quiet,
    user: both(user, bold),
    good,
    warn,
    bad,
    added: good,
    removed: bad,
    code,
    link: both(accent, underline),
    danger: both(bad, bold),
    ...named([fixed(first), fixed(second), fixed(third)], [fixed(fourth), fixed(fifth)]),
  }
}

const fixedDark = painted(dark, {
  accent: 80,
  user: 117,
  good: 114,
  warn: 221,
  bad: 203,
  code: 111,
  hues: [176, 111, 80],
  more: [218, 153],
})

const fixedLight = painted(light, {
  accent: 25,
  user: 25,
  good: 28,
  warn: 130,
  bad: 160,
  code: 54,
  hues: [90, 25, 23],
  more: [240, 61],
})

/** Each theme on a dark and on a light background. The themes `dark` and `light` are for the person who knows better than the terminal. */
export const themes: Record<ThemeName, Record<Background, Theme>> = {
  terminal: { dark, light },
  dark: { dark: fixedDark, light: fixedDark },
  light: { dark: fixedLight, light: fixedLight },
  // Every colour has at least seven times the brightness of a black background, or a seventh of a white one (WCAG, AAA);
  // only the warning on white is a little below.
  'high-contrast': {
    dark: painted(
      dark,
      { accent: 51, user: 231, good: 46, warn: 226, bad: 210, code: 159, hues: [213, 117, 51], more: [219, 195] },
      none,
    ),
    light: painted(
      light,
      { accent: 18, user: 18, good: 22, warn: 58, bad: 88, code: 54, hues: [54, 18, 23], more: [53, 236] },
      none,
    ),
  },
  // Green and red look the same to one man in twelve; blue and orange differ for all of them.
  'colour-blind': {
    dark: painted(dark, {
      accent: 152,
      user: 152,
      good: 75,
      warn: 228,
      bad: 208,
      code: 183,
      hues: [183, 152, 218],
      more: [250, 194],
    }),
    light: painted(light, {
      accent: 23,
      user: 23,
      good: 25,
      warn: 90,
      bad: 130,
      code: 54,
      hues: [23, 53, 240],
      more: [61, 58],
    }),
  },
}

/** The theme of a person; NO_COLOR wins over their choice. */
export function themeFor(env: Env, name: ThemeName, background: Background): Theme {
  return env.NO_COLOR ? plain : themes[name][background]
}
