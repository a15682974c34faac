import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Theme } from '../../../src/chat/style/theme.ts'
import { themeNames } from '../../../src/core/talk/themes.ts'
import { themeFor, themes } from '../../../src/chat/style/theme-table.ts'
import { firstTheme, followBackground, dark, light, plain, ThemeSwitch } from '../../../src/chat/style/theme.ts'

const paints = [
  ...(['accent', 'strong', 'quiet', 'user', 'good', 'warn', 'bad'] as const),
  ...(['added', 'removed', 'code', 'link', 'chosen'] as const),
]

test('the first theme is chosen by the environment', () => {
  const names = (envs: Record<string, string>[]) => envs.map((env) => firstTheme(env).name)
  assert.deepEqual(
    names([{}, { COLORFGBG: '15;0' }, { COLORFGBG: '0;15' }, { COLORFGBG: '0;default;7' }, { COLORFGBG: 'odd' }]),
    ['dark', 'dark', 'light', 'light', 'dark'],
  )
  assert.deepEqual(names([{ NO_COLOR: '1', COLORFGBG: '0;15' }, { NO_COLOR: '' }]), ['plain', 'dark'])
})

/** A terminal with that background, that may change its mind. */
function terminal(rgb?: { r: number; g: number; b: number }) {
  let told: (scheme: 'dark' | 'light') => void = () => {}
  return {
    queryTerminalBackgroundColor: async () => rgb,
    onTerminalColorSchemeChange: (listener: typeof told) => {
      told = listener
      return () => {}
    },
    setTerminalColorSchemeNotifications: () => {},
    tell: (scheme: 'dark' | 'light') => told(scheme),
  }
}

test('then the background is what the terminal says it is', async () => {
  const turned = async (rgb?: { r: number; g: number; b: number }, env = {}) => {
    const told: string[] = []
    const asked = terminal(rgb)
    await followBackground(asked, env, (background) => told.push(background))
    asked.tell('light')
    asked.tell('dark')
    return told
  }
  assert.deepEqual(await turned({ r: 255, g: 250, b: 220 }), ['light', 'light', 'dark'])
  assert.deepEqual(await turned({ r: 0, g: 43, b: 54 }), ['dark', 'light', 'dark'])
  assert.deepEqual(await turned(undefined), ['light', 'dark'])
  assert.deepEqual(await turned({ r: 255, g: 255, b: 255 }, { NO_COLOR: '1' }), [])
})

test('components that hold the theme paint in its current colours', () => {
  const theme = new ThemeSwitch(dark)
  const { accent } = theme
  assert.equal(accent('x'), dark.accent('x'))
  assert.deepEqual([theme.switchTo(light), theme.switchTo(light), theme.name], [true, false, 'light'])
  assert.equal(accent('x'), light.accent('x'))
  for (const name of paints) assert.equal(theme[name]('x'), light[name]('x'))
})

const all = Object.entries(themes).flatMap(([name, { dark, light }]) => [
  { name: `${name} on dark`, background: 0, theme: dark },
  { name: `${name} on light`, background: 1, theme: light },
])

test('the colours of failure, success and warning are used for nothing else, in any theme', () => {
  const colours = (painted: string) => [...painted.matchAll(/\x1b\[(3[0-7]|9[0-7]|38;5;\d+)m/g)].map(([, code]) => code)
  const names = Array.from({ length: 50 }, (_, at) => `agent ${at}`)
  for (const { name, theme } of all) {
    const kept = ['good', 'warn', 'bad'].flatMap((name) => colours(theme[name as 'good']('x')))
    const others = (['accent', 'strong', 'quiet', 'user', 'code', 'link', 'chosen'] as const).map((name) =>
      theme[name]('x'),
    )
    const used = new Set([...others, ...names.map((name) => theme.speaker(name)('x'))].flatMap(colours))
    assert.deepEqual([new Set(kept).size, kept.filter((code) => used.has(code))], [3, []], name)
  }
})

test('a theme uses only the sixteen colours, each closed again; a plain theme has none', () => {
  const codes = (theme: Theme) =>
    [...paints.map((name) => theme[name]('x')), ...['claude', 'gemini', 'codex'].map((who) => theme.speaker(who)('x'))]
      .join('')
      .match(/\x1b\[[\d;]*m/g)!
  const closers = new Set(['\x1b[39m', '\x1b[22m', '\x1b[24m', '\x1b[27m'])
  for (const theme of [dark, light]) {
    for (const code of codes(theme)) assert.match(code, /^\x1b\[(?:[1247]|22|24|27|39|3[1-6]|9[0-6])m$/)
    assert.equal(codes(theme).filter((code) => closers.has(code)).length * 2, codes(theme).length)
  }
  for (const code of codes(plain)) assert.match(code, /^\x1b\[(?:[1247]|22|24|27)m$/)
  for (const name of paints) assert.equal(dark[name](''), '')
})

test('no two agents of a roster look the same, dark or light, whatever their names and their order', () => {
  const looks = (first: Theme, names: readonly string[]) => {
    const theme = new ThemeSwitch(first)
    theme.setAgents(names)
    return Object.fromEntries(names.toSorted().map((name) => [name, theme.speaker(name)('x')]))
  }
  const rosters = [
    ['claude', 'gemini', 'codex'],
    ['a', 'd', 'g', 'j', 'm'],
    Array.from({ length: 10 }, (_, at) => `agent-${at}`),
  ]
  for (const { name, theme } of all)
    for (const names of rosters) {
      const given = looks(theme, names)
      assert.equal(new Set(Object.values(given)).size, names.length, `${name}: ${names.join(' ')}`)
      assert.deepEqual(looks(theme, names.toReversed()), given)
    }
})

test('the first three agents differ in hue, and an agent of another roster has an underlined name', () => {
  const theme = new ThemeSwitch(dark)
  const names = ['amber', 'beryl', 'coral']
  assert.equal(theme.setAgents(names), true)
  assert.equal(theme.setAgents(names.toReversed()), false)
  const hue = (name: string) => /\x1b\[[39](\d)m/.exec(theme.speaker(name)('x'))![1]
  assert.deepEqual(new Set(names.map(hue)), new Set(['4', '5', '6']))
  assert.deepEqual(
    ['amber', 'stranger'].map((name) => theme.speaker(name)('x').includes('\x1b[4m')),
    [false, true],
  )
})

/** Red, green and blue of one of the fixed colours, from 0 to 1 in linear light. */
function linear(code: number): number[] {
  const at = code - 16
  const steps = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => (step === 0 ? 0 : 55 + 40 * step))
  const bytes = code < 232 ? steps : [0, 0, 0].map(() => 8 + 10 * (code - 232))
  return bytes.map((byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4))
}

/** The contrast of a colour to black or to white, as WCAG measures it. */
function contrast(code: number, background: number): number {
  const [r, g, b] = linear(code) as [number, number, number]
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b
  return (Math.max(light, background) + 0.05) / (Math.min(light, background) + 0.05)
}

const fixedIn = (theme: Theme, of: readonly (keyof Theme)[]) =>
  of
    .map((name) => (theme[name] as (text: string) => string)('x'))
    .concat(theme.speakers.map((paint) => paint('x')))
    .flatMap((painted) => [...painted.matchAll(/38;5;(\d+)m/g)].map(([, code]) => Number(code)))

test('fixed colours can be read: WCAG’s AA, and about AAA in the theme for it', () => {
  for (const { name, background, theme } of all) {
    if (name.startsWith('terminal')) continue
    const on = name.startsWith('dark') ? 0 : name.startsWith('light') ? 1 : background
    const least = name.startsWith('high-contrast') ? 6.7 : 4.5
    const codes = fixedIn(theme, paints)
    assert.ok(codes.length > 10, name)
    assert.deepEqual(
      codes.filter((code) => contrast(code, on) < least),
      [],
      name,
    )
  }
})

/** How people with no red, green or blue cones see a colour (Machado, Oliveira and Fernandes, 2009). */
const cones = {
  'no red': [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  'no green': [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  'no blue': [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
}

test('in the theme for colour blindness good, bad and warning look different to everybody', () => {
  const seen = (code: number, by: readonly number[]) => {
    const [r, g, b] = linear(code) as [number, number, number]
    return [0, 3, 6].map((row) => Math.max(0, by[row]! * r + by[row + 1]! * g + by[row + 2]! * b) ** (1 / 2.2))
  }
  const apart = (theme: Theme, one: 'good' | 'bad' | 'warn', other: 'good' | 'bad' | 'warn', by: readonly number[]) => {
    const [first, second] = [one, other].map((name) => seen(Number(/38;5;(\d+)/.exec(theme[name]('x'))![1]), by))
    return Math.hypot(...first!.map((part, at) => part - second![at]!))
  }
  for (const theme of Object.values(themes['colour-blind']))
    for (const [kind, by] of Object.entries(cones)) {
      assert.ok(apart(theme, 'good', 'bad', by) > 0.7, `${theme.name}, ${kind}`)
      for (const other of ['good', 'bad'] as const)
        assert.ok(apart(theme, 'warn', other, by) > 0.2, `${theme.name}, ${kind}, ${other}`)
    }
})

test('a chosen theme follows the background where it has two looks, and NO_COLOR wins over every theme', () => {
  const looks = themeNames.map((name) => [name, themeFor({}, name, 'dark').name, themeFor({}, name, 'light').name])
  assert.deepEqual(looks, [
    ['terminal', 'dark', 'light'],
    ['dark', 'dark', 'dark'],
    ['light', 'light', 'light'],
    ['high-contrast', 'dark', 'light'],
    ['colour-blind', 'dark', 'light'],
  ])
  for (const name of themeNames) assert.equal(themeFor({ NO_COLOR: '1' }, name, 'light'), plain)
  const dimmed = themeNames.filter((name) => themes[name].dark.quiet('x') !== 'x')
  assert.deepEqual(dimmed, ['terminal', 'dark', 'light', 'colour-blind'])
})
