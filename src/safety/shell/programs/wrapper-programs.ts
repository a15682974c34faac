import type { Inner, Known, Reading, ShellClass } from '../shell-judgement.ts'
import type { Word } from '../simple-command.ts'
import { is, isRiskyVariable, reads, unclear } from '../shell-judgement.ts'
import { literal, only, wordText } from '../simple-command.ts'

/** A program that runs the command in its last arguments: its flags with a value, and the number of its operands before the command. */
type Wrapper = {
  takes?: readonly string[]
  operands?: number
  sets?: true
  class?: ShellClass
  why?: string
  bare?: Reading
  refuses?: RegExp
}

function wrapper(shape: Wrapper): Known {
  return (args) => {
    // Unknown flags hide neither the command after them nor the rules about that command.
    let own = is(shape.class ?? 'runs', shape.why ?? 'it runs another command')
    let left = shape.operands ?? 0
    for (let i = 0; i < args.length; i++) {
      const word = only(args[i])
      if (word === undefined && left === 0) return withInner(own, args.slice(i))
      if (word === undefined) return unclear(args[i]!)
      if (shape.refuses?.test(word)) {
        own = is('dynamic', `${word} is not read`)
        const script = scriptIn(word, args.slice(i + 1))
        if (script !== undefined) return { ...own, inner: [{ script }] }
      }
      if (word === '--') return withInner(own, args.slice(i + 1 + left))
      const name = shape.sets ? /^([A-Za-z_]\w*)=/.exec(word)?.[1] : undefined
      if (name !== undefined) {
        if (isRiskyVariable(name)) own = is('dynamic', `${name} decides what programs do`)
      } else if (word.startsWith('-') && word !== '-') {
        if (shape.takes?.includes(word)) i++
      } else if (left > 0) left--
      else return withInner(own, args.slice(i))
    }
    return own.class === 'dynamic' ? own : (shape.bare ?? own)
  }
}

/** The command in the single text of a flag such as `-S` of env or `-c` of flock. */
function scriptIn(flag: string, rest: readonly Word[]): string | undefined {
  const found = /^(?:-\w*[Sc]|--(?:split-string|command)=?)(.*)$/s.exec(flag)
  if (!found) return undefined
  return [...(found[1] === '' ? [] : [found[1]!]), ...rest.map((word) => wordText(word))].join(' ')
}

function withInner(own: Reading, words: readonly Word[], more: readonly Word[] = []): Reading {
  return words.length === 0 ? own : { ...own, inner: [{ words: [...words, ...more] }] }
}

/** A word that stands for names of files in the project. */
const piped = literal('./piped')

const xargs: Known = (args) => {
  const takes = [
    '-I',
    '-n',
    '-P',
    '-L',
    '-d',
    '-E',
    '-s',
    '-a',
    '--max-args',
    '--max-procs',
    '--delimiter',
    '--arg-file',
  ]
  const at = commandAt(args, takes)
  if (at === undefined) return unclear(args.find((word) => only(word) === undefined) ?? literal('xargs'))
  if (at >= args.length) return reads('it prints its input')
  const more: Word = { text: 'the input of xargs' }
  const mark = replacedMark(args.slice(0, at))
  const words = args.slice(at)
  if (mark === undefined) return withInner(is('runs', 'it runs another command'), words, [more])
  return withInner(
    is('runs', 'it runs another command'),
    words.map((word) => (wordText(word).includes(mark) ? more : word)),
  )
}

/** The placeholder of xargs' `-I`, which is replaced by each input line. */
function replacedMark(flags: readonly Word[]): string | undefined {
  const at = flags.findIndex((word) => wordText(word).startsWith('-I') || wordText(word) === '-i')
  if (at < 0) return undefined
  const own = wordText(flags[at]!).slice(2)
  return own !== '' ? own : wordText(flags[at]!) === '-i' ? '{}' : only(flags[at + 1])
}

function commandAt(args: readonly Word[], takes: readonly string[]): number | undefined {
  for (let i = 0; i < args.length; i++) {
    const word = only(args[i])
    if (word === undefined) return undefined
    if (word === '--') return i + 1
    if (!word.startsWith('-')) return i
    if (takes.includes(word)) i++
  }
  return args.length
}

const find: Known = (args) => {
  // A pattern may expand to a word that makes find run a command.
  const unknown = args.find((word) => !word.values || word.glob)
  if (unknown) return unclear(unknown)
  const texts = args.map((word) => wordText(word))
  const start = texts.findIndex((text) => /^[-(!]/.test(text) && !/^-[HLP]$|^-[DO]/.test(text))
  const places = args.slice(0, start < 0 ? args.length : start).filter((word) => !wordText(word).startsWith('-'))
  const paths: { word: Word; how: 'read' | 'write' | 'remove' }[] = places.map((word) => ({ word, how: 'read' }))
  const inner: Inner[] = []
  let found: Reading = reads()
  for (let i = 0; i < texts.length; i++) {
    if (/^-(?:fprint0?|fprintf|fls)$/.test(texts[i]!) && args[i + 1]) paths.push({ word: args[i + 1]!, how: 'write' })
    if (texts[i] === '-delete') found = { ...is('removes', 'it removes every file it finds'), unseen: true }
    if (/^-(?:newer\w*|samefile|files0-from)$/.test(texts[i]!) && args[i + 1])
      paths.push({ word: args[i + 1]!, how: 'read' })
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(texts[i]!)) continue
    const end = texts.findIndex((text, at) => at > i && (text === ';' || (text === '+' && texts[at - 1] === '{}')))
    const command = args.slice(i + 1, end < 0 ? args.length : end)
    inner.push({
      words: command.map((word) =>
        wordText(word) === '{}' ? piped : wordText(word).includes('{}') ? { text: wordText(word) } : word,
      ),
      onFound: true,
    })
    i = end < 0 ? texts.length : end
  }
  // Rules about files see the names that find searches for.
  const named = texts.flatMap((text, i) => (/^-i?name$/.test(texts[i - 1] ?? '') ? [text] : []))
  if (found.class === 'removes')
    for (const place of places)
      for (const name of ['piped', ...named])
        paths.push({ word: { ...place, values: place.values!.map((value) => `${value}/${name}`) }, how: 'remove' })
  return { ...found, paths, inner }
}

/** fd runs everything after -x or -X on the files that it finds. */
const fd: Known = (args) => {
  const unknown = args.find((word) => !word.values)
  if (unknown) return unclear(unknown)
  const at = args.findIndex((word) => /^(?:-x|-X|--exec|--exec-batch)$/.test(wordText(word)))
  if (args.some((word) => /^--exec(?:-batch)?=|^-\w+[xX]/.test(wordText(word))))
    return is('dynamic', 'it runs a command on what it finds')
  const operands = args.slice(0, at < 0 ? args.length : at).filter((word) => !wordText(word).startsWith('-'))
  const paths = operands.slice(1).map((word) => ({ word, how: 'read' as const }))
  if (at < 0) return { ...reads(), paths }
  const words = args.slice(at + 1)
  const inner = words.some((word) => wordText(word) === '{}')
    ? words.map((word) => (wordText(word) === '{}' ? piped : word))
    : [...words, piped]
  return { ...reads(), inner: [{ words: inner, onFound: true }], paths }
}

/** `sh -c text` runs the text as a script; without `-c` a file is run, and without a file the input. */
const shell: Known = (args) => {
  let script = false
  for (let i = 0; i < args.length; i++) {
    const word = only(args[i])
    if (word === undefined) return unclear(args[i]!)
    if (/^--(?:version|help)$/.test(word)) return reads()
    if (/^--(?:rcfile|init-file)/.test(word)) return is('dynamic', `${word} runs a file first`)
    if (/^[-+]O$/.test(word) || /^[-+]\w*o$/.test(word)) i++
    else if (/^[-+]\w+$/.test(word)) script ||= /^-\w*c/.test(word)
    else if (word.startsWith('--')) continue
    else if (script) return { ...reads('it runs a script'), inner: [{ script: word }] }
    else return { ...is('runs', 'it runs a script of the project'), paths: [{ word: args[i]!, how: 'run' }] }
  }
  return is('dynamic', 'it runs the commands in its input')
}

/** Judges `eval`: its words are joined and run as a script. */
const joinedScript: Known = (args) => {
  const unknown = args.find((word) => only(word) === undefined)
  if (unknown) return unclear(unknown)
  return {
    ...is('runs', 'it runs a script'),
    inner: [{ script: args.map((word) => only(word)!).join(' ') }],
  }
}

const watch: Known = (args) => {
  const at = commandAt(args, ['-n', '--interval', '-q', '--equexit'])
  return at === undefined
    ? unclear(args.find((word) => only(word) === undefined)!)
    : joinedScript(args.slice(at), { name: 'watch' })
}

const source: Known = (args) =>
  args[0]
    ? { ...is('runs', 'it runs a script of the project'), paths: [{ word: args[0], how: 'run' }] }
    : is('dynamic', 'it runs the commands in its input')

const trap: Known = (args) => {
  const text = args.find((word) => !wordText(word).startsWith('-'))
  if (!text || args.length < 2) return reads()
  return only(text) === '' ? reads() : joinedScript([text], { name: 'trap' })
}

const secretEnvironment = is('secrets', 'it shows the whole environment, including keys')
const asRoot = { class: 'system', why: 'it runs as another user' } as const

export const wrappers: Readonly<Record<string, Known>> = {
  env: wrapper({
    takes: ['-u', '--unset', '-C', '--chdir'],
    sets: true,
    bare: secretEnvironment,
    refuses: /^(?:-\w*S|--split-string|-C|--chdir)/,
  }),
  sudo: wrapper({ takes: ['-u', '-g', '-h', '-p', '-C', '-T', '-r', '-t', '-D', '-R', '-U'], sets: true, ...asRoot }),
  doas: wrapper({ takes: ['-u', '-C'], ...asRoot }),
  run0: wrapper({ ...asRoot }),
  pkexec: wrapper({ takes: ['--user'], ...asRoot }),
  runuser: wrapper({ takes: ['-u'], ...asRoot }),
  nohup: wrapper({}),
  setsid: wrapper({}),
  stdbuf: wrapper({ takes: ['-i', '-o', '-e'] }),
  ionice: wrapper({ class: 'reads', takes: ['-c', '-n', '-p'] }),
  nice: wrapper({ class: 'reads', takes: ['-n', '--adjustment'] }),
  chrt: wrapper({ operands: 1 }),
  taskset: wrapper({ operands: 1 }),
  time: wrapper({ class: 'reads', takes: ['-f', '-o', '--format', '--output'], refuses: /^(?:-o|--output)/ }),
  timeout: wrapper({ class: 'reads', takes: ['-s', '-k', '--signal', '--kill-after'], operands: 1 }),
  gtimeout: wrapper({ class: 'reads', takes: ['-s', '-k'], operands: 1 }),
  command: (args, call) => (/^-p?[vV]/.test(only(args[0]) ?? '') ? reads() : wrapper({})(args, call)),
  builtin: wrapper({}),
  exec: wrapper({ takes: ['-a'] }),
  coproc: wrapper({}),
  busybox: wrapper({}),
  toybox: wrapper({}),
  caffeinate: wrapper({ takes: ['-t', '-w'] }),
  flock: wrapper({ operands: 1, refuses: /^(?:-c|--command)/ }),
  dotenv: wrapper({ refuses: /^-/ }),
  'cross-env': wrapper({ sets: true }),
  'cross-env-shell': joinedScript,
  xargs,
  find,
  fd,
  fdfind: fd,
  ...Object.fromEntries(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'rbash'].map((name) => [name, shell])),
  eval: joinedScript,
  watch,
  source,
  '.': source,
  trap,
}
