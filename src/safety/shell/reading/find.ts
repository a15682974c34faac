import type { Word } from '../simple-command.ts'
import type { NotUnderstood, ReadingProgram, Surroundings, Understood } from './program-table.ts'
import { basename } from 'node:path'
import { only } from '../simple-command.ts'
import { mayMeet } from '../touched-paths.ts'
import { here, not } from './program-table.ts'

/** Tests and actions of find that only look, with what follows each. `-exec`, `-delete`, `-fprint` and the like are missing. */
export const findWords: Readonly<Record<string, RegExp | 'FILE' | undefined>> = {
  ...Object.fromEntries(
    [
      '!',
      '-not',
      '-a',
      '-and',
      '-o',
      '-or',
      '(',
      ')',
      ',',
      '-print',
      '-print0',
      '-prune',
      '-ls',
      '-quit',
      '-empty',
      '-true',
      '-false',
      '-depth',
      '-xdev',
      '-mount',
      '-daystart',
      '-readable',
      '-writable',
      '-executable',
      '-noleaf',
      '-nouser',
      '-nogroup',
      '-warn',
      '-nowarn',
    ].map((word) => [word, undefined]),
  ),
  ...Object.fromEntries(
    [
      '-name',
      '-iname',
      '-path',
      '-ipath',
      '-wholename',
      '-iwholename',
      '-regex',
      '-iregex',
      '-lname',
      '-ilname',
      '-printf',
    ].map((word) => [word, /^/]),
  ),
  ...Object.fromEntries(['-maxdepth', '-mindepth'].map((word) => [word, /^\d{1,4}$/])),
  ...Object.fromEntries(
    ['-mtime', '-atime', '-ctime', '-mmin', '-amin', '-cmin', '-links', '-inum', '-uid', '-gid'].map((word) => [
      word,
      /^[+-]?\d{1,9}$/,
    ]),
  ),
  '-type': /^[fdlbcps](?:,[fdlbcps])*$/,
  '-size': /^[+-]?\d{1,9}[bcwkMG]?$/,
  '-perm': /^[-/]?(?:[0-7]{1,4}|[ugoa]*[+=-][rwxst]+)$/,
  '-user': /^[\w.-]+$/,
  '-group': /^[\w.-]+$/,
  '-regextype': /^[\w-]+$/,
  '-newer': 'FILE',
  '-anewer': 'FILE',
  '-cnewer': 'FILE',
  '-samefile': 'FILE',
}

/** find shows names, sizes and dates of the files below a folder; it does not follow links. */
export const find: ReadingProgram = (args, around) => {
  const named: Word[] = []
  let i = 0
  while (only(args[i]) === '-P' || only(args[i]) === '-H') i++
  for (; i < args.length; i++) {
    const word = args[i]!
    if (!word.values) return not(`the value of ${word.text} is known only when it runs`)
    if ([...word.values, ...(word.glob ? around.matches(word) : [])].some((text) => /^[-(!,]/.test(text))) break
    named.push(word)
  }
  const starts = named.length > 0 ? [...named] : [here]
  const tests: Test[] = []
  for (; i < args.length; i++) {
    const text = only(args[i])
    if (text === '-delete' && i === args.length - 1) return removing(tests, starts, named, around)
    if (text === '-exec') return executing(tests, args.slice(i + 1), starts, named)
    if (text === undefined) return not(`${args[i]!.text} may become other words`)
    if (!Object.hasOwn(findWords, text)) return not(`its argument ${text} is not understood`)
    const wanted = findWords[text]
    if (wanted === undefined) {
      tests.push({ test: text, value: '' })
      continue
    }
    const value = args[++i]
    const plain = value?.glob && around.matches(value).length === 0 ? value.values?.[0] : only(value)
    if (value === undefined || plain === undefined) return not(`the value of ${text} is not known`)
    tests.push({ test: text, value: plain })
    if (wanted === 'FILE') named.push(value)
    else if (!wanted.test(plain)) return not(`the value of ${text} is not understood`)
  }
  return { files: [], trees: [], named: named.length > 0 ? named : [here] }
}

/** A test or an action of find, with the value that follows it. */
type Test = { test: string; value: string }

/** Whether a file must pass each of the tests, because nothing joins them in another way. */
const isEach = (tests: readonly Test[]) => !tests.some(({ test }) => /^(?:!|-not|-o|-or|,|\(|\))$/.test(test))

const mostRemoved = 1000

/** `-delete` as the last action: everything below the folders that the tests may let through. find does not follow links there. */
function removing(
  tests: readonly Test[],
  starts: readonly Word[],
  named: readonly Word[],
  around: Surroundings,
): Understood | NotUnderstood {
  const names = isEach(tests) ? tests.filter(({ test }) => test === '-name') : []
  const removes: Word[] = []
  for (const word of starts) {
    const start = only(word)
    const below = start === undefined ? undefined : around.below(start)
    if (below === undefined) return not('termaite does not know what it removes')
    const found = below.filter((path) => names.every(({ value }) => mayMeet(value, basename(path))))
    if (found.length > mostRemoved) return not('it may remove too many files')
    removes.push({ ...word, values: [`${start}/found`, ...found] })
  }
  return { files: [], trees: [], named, removes }
}

/** `-exec` as the last action, of a command that reads the files that were found, all of them plain files. */
function executing(
  tests: readonly Test[],
  command: readonly Word[],
  starts: readonly Word[],
  named: readonly Word[],
): Understood | NotUnderstood {
  if (!isEach(tests) || !tests.some(({ test, value }) => test === '-type' && value === 'f'))
    return not('it runs a command on more than plain files')
  const end = only(command.at(-1))
  if (end !== ';' && !(end === '+' && only(command.at(-2)) === '{}')) return not('where its -exec ends is not clear')
  const inner = command.slice(0, -1)
  // The words behind the end of an inner command are arguments of find again, such as another -exec.
  if (inner.some((word) => only(word) === ';' || only(word) === '+')) return not('where its -exec ends is not clear')
  if (
    inner.some((word) => only(word) === undefined || (only(word) !== '{}' && only(word)!.includes('{}'))) ||
    only(inner[0]) === '{}'
  )
    return not('termaite does not know what it runs')
  const found: Word = {
    text: '{}',
    values: starts.flatMap((word) => word.values!.map((value) => `${value}/*`)),
    glob: true,
  }
  if (starts.some((word) => word.glob) || found.values!.length > 1) return not('it runs a command in several places')
  return {
    files: [],
    trees: starts,
    named,
    inner: inner.map((word) => (only(word) === '{}' ? found : word)),
    onFound: true,
  }
}
