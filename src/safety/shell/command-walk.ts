import type { Node } from 'web-tree-sitter'
import type { Redirect, Simple, Word } from './simple-command.ts'
import type { Sources } from './shell-words.ts'
import { isAbsolute, join } from 'node:path'
import { only } from './simple-command.ts'
import { wordOf } from './shell-words.ts'

/** The steps of a script in the order in which they would run; each is judged on its own. */
export type Step =
  | { type: 'simple'; simple: Simple; sets: readonly string[] }
  | { type: 'redirect'; redirect: Redirect; cwds: readonly string[] | undefined }
  | { type: 'sets'; text: string; names: readonly string[] }
  | { type: 'prints'; text: string }
  | { type: 'odd'; text: string; why: string }

type Folders = readonly string[] | undefined

/** The folders that a script may be in after one of its parts: if the part succeeded, and in any case. */
type After = { well: Folders; any: Folders }

export type WalkWorld = { home: string; root: string; sources: Sources; step(step: Step): Promise<void> }

const statements = new Set(
  'list pipeline subshell compound_statement do_group if_statement elif_clause else_clause while_statement for_statement c_style_for_statement case_statement case_item function_definition negated_command redirected_statement command variable_assignment variable_assignments declaration_command unset_command test_command comment'.split(
    ' ',
  ),
)

const substitutions = new Set(['command_substitution', 'process_substitution'])

/** Walks through a script as a shell would, and keeps track of every folder that it may be in. */
export class Walk {
  #world: WalkWorld
  #functions = new Map<string, Node>()
  #calls = 0

  constructor(world: WalkWorld) {
    this.#world = world
  }

  async all(nodes: readonly Node[], cwds: Folders, fed = false): Promise<After> {
    let now: After = { well: cwds, any: cwds }
    for (const node of nodes) now = await this.#one(node, now.any, fed)
    return now
  }

  async #one(node: Node, cwds: Folders, fed: boolean): Promise<After> {
    const here: After = { well: cwds, any: cwds }
    const named = children(node)
    switch (node.type) {
      case 'comment':
        return here
      case 'command':
        return this.#command(node, named, [], cwds, fed)
      case 'redirected_statement':
        return this.#redirected(node, cwds, fed)
      case 'list':
        return this.#list(node, named, cwds, fed)
      case 'pipeline':
        await this.#pipeline(named, cwds, fed)
        return here
      case 'subshell':
        await this.all(named, cwds, fed)
        return here
      case 'function_definition':
        return this.#define(node, cwds)
      case 'negated_command': {
        const { any } = await this.all(named, cwds, fed)
        return { well: any, any }
      }
      case 'variable_assignment':
      case 'variable_assignments':
        await this.#sets(node, [node, ...named].filter(isAssignment), cwds)
        return here
      case 'declaration_command': {
        const sets = named.filter(isAssignment)
        if (sets.length === 0 && !named.some(({ type }) => type === 'variable_name'))
          await this.#world.step({ type: 'prints', text: node.text })
        await this.#sets(node, sets, cwds)
        for (const child of named) if (!isAssignment(child)) await this.#inner(child, cwds)
        return here
      }
      case 'unset_command':
      case 'test_command':
        await this.#inner(node, cwds)
        return here
      default:
        return statements.has(node.type) ? this.#compound(named, cwds, fed) : this.#odd(node, cwds)
    }
  }

  /** A loop, a branch or a group: each part may run or not, and in any folder that another part leads to. */
  async #compound(named: readonly Node[], cwds: Folders, fed: boolean): Promise<After> {
    let any = cwds
    for (const node of named) {
      if (statements.has(node.type)) any = union(any, (await this.#one(node, any, fed)).any)
      else await this.#inner(node, any)
    }
    return { well: any, any }
  }

  async #list(node: Node, named: readonly Node[], cwds: Folders, fed: boolean): Promise<After> {
    const [left, right] = named
    if (!left || !right || named.length !== 2) return this.#odd(node, cwds)
    const and = node.children.some((child) => child?.type === '&&')
    const first = await this.#one(left, cwds, fed)
    const second = await this.#one(right, and ? first.well : first.any, fed)
    if (and) return { well: second.well, any: union(first.any, second.any) }
    return { well: union(first.well, second.well), any: union(first.any, second.any) }
  }

  /** A stage's input is known to be file names if all stages before it only print file names. */
  async #pipeline(stages: readonly Node[], cwds: Folders, fed: boolean): Promise<void> {
    let names = fed
    for (const [i, stage] of stages.entries()) {
      await this.#one(stage, cwds, i === 0 ? fed : names)
      names = i === 0 ? listsFiles(stage.text) : names && keepsLines(stage.text)
    }
  }

  async #redirected(node: Node, cwds: Folders, fed: boolean): Promise<After> {
    const body = node.childForFieldName('body')
    const redirects = node.childrenForFieldName('redirect').filter((one) => one !== null)
    const words: Node[] = []
    for (const redirect of redirects) words.push(...(await this.#redirect(redirect, cwds, fed)))
    if (!body) return words.length > 0 ? this.#odd(node, cwds) : { well: cwds, any: cwds }
    if (body.type === 'command') return this.#command(body, children(body), words, cwds, fed)
    if (words.length > 0) return this.#odd(node, cwds)
    return this.#one(body, cwds, fed)
  }

  /** Judges redirections; returns the words of the command that follow one. */
  async #redirect(node: Node, cwds: Folders, fed: boolean): Promise<Node[]> {
    const words: Node[] = []
    if (node.type === 'file_redirect') {
      // In `cat > a b` the parser reads two targets; for a shell the second is a word of the command.
      const [target, ...rest] = node.childrenForFieldName('destination').filter((one) => one !== null)
      words.push(...rest)
      const sign = /^\d*(&>>|&>|>>|>\||>&|<>|<&|>|<)/.exec(node.text)?.[1]
      if (!target || !sign) await this.#odd(node, cwds)
      else {
        const word = this.#word(target, cwds)
        // `2>&1` and `<&-` copy or close an open file.
        const copies = /[<>]&$/.test(sign) && /^(?:\d+-?|-)$/.test(target.text)
        const how = sign === '<' || sign === '<&' ? 'read' : 'write'
        if (!copies)
          await this.#world.step({ type: 'redirect', redirect: { text: node.text, target: word, how }, cwds })
      }
      await this.#inner(node, cwds)
    } else if (node.type === 'herestring_redirect') await this.#inner(node, cwds)
    else if (node.type === 'heredoc_redirect') {
      for (const child of children(node)) {
        if (statements.has(child.type)) await this.#one(child, cwds, fed)
        else if (/redirect$/.test(child.type)) words.push(...(await this.#redirect(child, cwds, fed)))
        else if (child.type === 'heredoc_body') await this.#inner(child, cwds)
        else if (!/^heredoc_/.test(child.type) && child.type !== 'file_descriptor') words.push(child)
      }
    } else await this.#odd(node, cwds)
    return words
  }

  async #command(
    node: Node,
    named: readonly Node[],
    more: readonly Node[],
    cwds: Folders,
    fed: boolean,
  ): Promise<After> {
    // A lone `$` is a word for a shell, but has no node in the tree.
    if (node.children.some((child) => child?.isNamed === false)) return this.#odd(node, cwds)
    const words: Word[] = []
    const late: Node[] = [...more]
    const sets: Node[] = []
    for (const child of named) {
      if (isAssignment(child)) sets.push(child)
      else if (/redirect$/.test(child.type)) late.push(...(await this.#redirect(child, cwds, fed)))
      else words.push(...this.#words(child, cwds))
    }
    for (const child of late) words.push(...this.#words(child, cwds))
    await this.#sets(node, sets, cwds)
    for (const child of [...named, ...late])
      if (!isAssignment(child) && !/redirect$/.test(child.type)) await this.#inner(child, cwds)
    const name = only(words[0])
    const body = name === undefined ? undefined : this.#functions.get(name)
    if (body) return this.#call(node, body, cwds, fed)
    const names = sets.map(nameOf)
    if (words.length > 0)
      await this.#world.step({ type: 'simple', simple: { text: node.text, words, cwds, fed }, sets: names })
    return this.#moved(name, words, cwds)
  }

  /** Follows `cd`; an unknown target means any folder. */
  #moved(name: string | undefined, words: readonly Word[], cwds: Folders): After {
    if (name === 'popd') return { well: undefined, any: undefined }
    if (name !== 'cd' && name !== 'pushd' && name !== 'chdir') return { well: cwds, any: cwds }
    const operands = words.slice(1).filter((word) => !/^-[LPe@]+$|^--$/.test(only(word) ?? ''))
    const target = operands.length === 0 ? this.#world.home : only(operands[0])
    if (operands.length > 1 || target === undefined || target.startsWith('-') || !cwds)
      return { well: undefined, any: undefined }
    const well = isAbsolute(target) ? [target] : cwds.map((cwd) => join(cwd, target))
    return { well, any: union(cwds, well) }
  }

  async #define(node: Node, cwds: Folders): Promise<After> {
    const name = node.childForFieldName('name')?.text
    const body = node.childForFieldName('body')
    if (!name || !body) return this.#odd(node, cwds)
    await this.#one(body, cwds, false)
    for (const redirect of node.childrenForFieldName('redirect'))
      if (redirect) await this.#redirect(redirect, cwds, false)
    this.#functions.set(name, body)
    return { well: cwds, any: cwds }
  }

  /** Walks through a function's body from where it is called. */
  async #call(node: Node, body: Node, cwds: Folders, fed: boolean): Promise<After> {
    if (++this.#calls > 32) return this.#odd(node, undefined)
    return this.#one(body, cwds, fed)
  }

  async #sets(node: Node, assignments: readonly Node[], cwds: Folders): Promise<void> {
    if (assignments.length > 0)
      await this.#world.step({ type: 'sets', text: node.text, names: assignments.map(nameOf) })
    for (const assignment of assignments) await this.#inner(assignment, cwds)
  }

  /** Walks through every command inside a word, which runs in a subshell. */
  async #inner(node: Node, cwds: Folders): Promise<void> {
    if (substitutions.has(node.type)) {
      await this.all(children(node), cwds)
      return
    }
    for (const child of children(node)) await this.#inner(child, cwds)
  }

  async #odd(node: Node, cwds: Folders): Promise<After> {
    await this.#world.step({ type: 'odd', text: node.text, why: 'this part of the shell’s language is not read' })
    return { well: cwds, any: cwds }
  }

  /** Expands `{a,b}` into two words. */
  #words(node: Node, cwds: Folders): Word[] {
    const { spread, ...word } = this.#word(node, cwds)
    return spread ? word.values!.map((value) => ({ ...word, values: [value] })) : [word]
  }

  #word(node: Node, cwds: Folders): Word {
    return wordOf(node, { ...this.#world, cwds })
  }
}

const children = (node: Node) => node.namedChildren.filter((child) => child !== null)
const isAssignment = ({ type }: Node) => type === 'variable_assignment'
const nameOf = (node: Node) => node.childForFieldName('name')?.text ?? node.text

function union(a: Folders, b: Folders): Folders {
  return a && b ? [...new Set([...a, ...b])] : undefined
}

/** Whether a stage prints names of files in its folder, one per line. */
function listsFiles(stage: string): boolean {
  return /^\s*(?:find\s|fd\s|git\s+ls-files\b|git\s+(?:diff|show)\b.*--name-only|rg\b.*\s(?:-l|--files)\b|grep\b.*\s-\w*l)/s.test(
    stage,
  )
}

/** Whether a stage passes on some of its input lines unchanged. */
const keepsLines = (stage: string) => /^\s*(?:sort|uniq|head|tail|grep|tac)\b/.test(stage)
