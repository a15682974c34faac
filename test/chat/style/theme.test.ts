import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Theme } from '../../../src/chat/style/theme.ts'
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

test('then the theme follows the background of the terminal', async () => {
  const turned = async (rgb?: { r: number; g: number; b: number }, env = {}) => {
    const themes: Theme['name'][] = []
    const asked = terminal(rgb)
    await followBackground(asked, env, ({ name }) => themes.push(name))
    asked.tell('light')
    asked.tell('dark')
    return themes
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

test('the colours of failure, success and warning are used for nothing else', () => {
  const colours = (painted: string) => [...painted.matchAll(/\x1b\[(3[0-7]|9[0-7])m/g)].map(([, code]) => code)
  const names = Array.from({ length: 50 }, (_, at) => `agent ${at}`)
  for (const theme of [dark, light]) {
    const kept = ['good', 'warn', 'bad'].flatMap((name) => colours(theme[name as 'good']('x')))
    const others = (['accent', 'strong', 'quiet', 'user', 'code', 'link', 'chosen'] as const).map((name) =>
      theme[name]('x'),
    )
    const used = new Set([...others, ...names.map((name) => theme.speaker(name)('x'))].flatMap(colours))
    assert.deepEqual([new Set(kept).size, kept.filter((code) => used.has(code))], [3, []], theme.name)
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
  for (const theme of [dark, light])
    for (const names of rosters) {
      const given = looks(theme, names)
      assert.equal(new Set(Object.values(given)).size, names.length, `${theme.name}: ${names.join(' ')}`)
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
