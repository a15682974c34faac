import type { Word } from '../simple-command.ts'
import type { NotUnderstood, ReadingProgram, Understood } from './program-table.ts'
import { only } from '../simple-command.ts'
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
  const from = i
  for (; i < args.length; i++) {
    const text = only(args[i])
    // The last action may remove what was found below one folder; find does not follow links there.
    if (text === '-delete' && i === args.length - 1 && starts.every((word) => only(word) !== undefined))
      return {
        files: [],
        trees: [],
        named,
        removes: starts.map((word) => ({ ...word, values: [`${only(word)!}/found`] })),
      }
    if (text === '-exec') return executing(args.slice(from, i), args.slice(i + 1), starts, named)
    if (text === undefined) return not(`${args[i]!.text} may become other words`)
    if (!Object.hasOwn(findWords, text)) return not(`its argument ${text} is not understood`)
    const wanted = findWords[text]
    if (wanted === undefined) continue
    const value = args[++i]
    const plain = value?.glob && around.matches(value).length === 0 ? value.values?.[0] : only(value)
    if (value === undefined || plain === undefined) return not(`the value of ${text} is not known`)
    if (wanted === 'FILE') named.push(value)
    else if (!wanted.test(plain)) return not(`the value of ${text} is not understood`)
  }
  return { files: [], trees: [], named: named.length > 0 ? named : [here] }
}

/** `-exec` as the last action, of a command that reads the files that were found, all of them plain files. */
function executing(
  tests: readonly Word[],
  command: readonly Word[],
  starts: readonly Word[],
  named: readonly Word[],
): Understood | NotUnderstood {
  const texts = tests.map((word) => only(word) ?? '')
  const type = texts.indexOf('-type')
  if (type < 0 || texts[type + 1] !== 'f' || texts.some((text) => /^(?:!|-not|-o|-or|,|\(|\))$/.test(text)))
    return not('it runs a command on more than plain files')
  const end = only(command.at(-1))
  if (end !== ';' && !(end === '+' && only(command.at(-2)) === '{}')) return not('where its -exec ends is not clear')
  const inner = command.slice(0, -1)
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
  return { files: [], trees: starts, named, inner: inner.map((word) => (only(word) === '{}' ? found : word)) }
}
