type Env = Readonly<Record<string, string | undefined>>

/** What belongs to the terminal that we run in ourselves, and would be a lie in another one. */
const ofATerminal = new Set([
  'TERM',
  'TERMCAP',
  'TERM_PROGRAM',
  'TERM_PROGRAM_VERSION',
  'TERM_SESSION_ID',
  'TMUX',
  'TMUX_PANE',
  'STY',
  'WINDOW',
  'WINDOWID',
  'COLUMNS',
  'LINES',
  'OLDPWD',
  'SHLVL',
  'TERMAITE_RUN',
  '_',
])

/** The variables of a program in a terminal of its own: ours, those it is given, and what says that colours are welcome. */
export function terminalEnv(ours: Env, given: Env, cwd: string): Record<string, string> {
  const inherited = Object.entries(ours).filter(([name]) => !ofATerminal.has(name))
  const all = { COLORTERM: 'truecolor', ...Object.fromEntries(inherited), ...given, PWD: cwd }
  return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined))
}
