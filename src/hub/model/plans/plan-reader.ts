import type { CronTimes } from '../../../base/time/cron-times.ts'
import type { LocatedValue } from '../../../base/text/yaml-parser.ts'
import type { Combination, Matrix } from './plan-matrix.ts'
import type { NamedNeed } from './plan-prompts.ts'
import type { PlanProblem } from './plan-problems.ts'
import type { Deadline, Plan, PlannedTask, Retries } from './plan.ts'
import type { Fault, Path, TypeOf } from '../../../core/data/shape.ts'
import { join } from 'node:path'
import { defined } from '../../../base/defined.ts'
import { mostTasks, planForm } from './plan-form.ts'
import { combinationCount, combinationName, combinations, mostCombinations } from './plan-matrix.ts'
import { meantWords, PlanProblems } from './plan-problems.ts'
import { PlanTemplates } from './plan-prompts.ts'
import { deadlineIn, scheduleIn, zoneIn } from './plan-times.ts'
import { faultWords, Misfit } from '../../../core/data/shape.ts'
import { repositoryIn, repositoryKey } from '../tasks/workspace.ts'

/** The most characters of a plan's text, and of all prompts together after its matrices are expanded. */
const longestPlan = 200_000
const longestPrompts = 5_000_000

/**
 * The folder for relative paths and the time zone for times without one, and the names of the agents that a plan may use; a reader that
 * does not know the names accepts any.
 */
type PlanContext = { workspace: string; zone: string; now: number; agents?: readonly string[] | undefined }

type ReadPlan = { plan: Plan; problems?: undefined } | { plan?: undefined; problems: PlanProblem[] }

/** Reads a plan in YAML or JSON. All its problems are reported together; a plan with any problem is rejected. */
export async function readPlan(text: string, context: PlanContext): Promise<ReadPlan> {
  if (text.length > longestPlan) {
    const words = `the plan has ${text.length} characters; ${longestPlan} are allowed. Split it into several files.`
    return { problems: [{ line: 1, column: 1, at: '', words }] }
  }
  const [{ parseLocated }, { loadCronTimes }] = await Promise.all([
    import('../../../base/text/yaml-parser.ts'),
    import('../../../base/time/cron-times.ts'),
  ])
  return planIn(parseLocated(text), context, await loadCronTimes())
}

type Written = Partial<TypeOf<typeof planForm>>
type WrittenTask = NonNullable<Written['tasks']>[number]
type Defaults = NonNullable<Written['defaults']>

/** A task as it is written, with its place in the file and the combinations of its matrix. */
type Group = { task: WrittenTask; at: Path; combinations: (Combination | undefined)[] }

/** Checks a parsed plan. */
function planIn(source: LocatedValue, context: PlanContext, cron: CronTimes): ReadPlan {
  if (source.errors.length > 0) {
    const problems = source.errors.map(({ words, line, column }) => ({
      line,
      column,
      at: '',
      words: `the file is not YAML: ${words}.`,
    }))
    // Later errors on the same line are mostly consequences of the first.
    return {
      problems: problems.filter(({ line }, at) => problems.findIndex((other) => other.line === line) === at),
    }
  }
  const problems = new PlanProblems(source)
  const plan = checkedPlan(writtenPlan(source.value, problems), { ...context, cron }, problems)
  return problems.all.length > 0 ? { problems: problems.all } : { plan }
}

/** The parts of the plan that have the right form; every error of form is noted. */
function writtenPlan(value: unknown, problems: PlanProblems): Written {
  const faults: Fault[] = []
  let written: Written = {}
  try {
    written = planForm.read(value ?? {}, { path: [], lenient: false, faults })
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    faults.push(error.fault)
  }
  for (const fault of faults) {
    const words = faultWords(fault)
    problems.add(fault.path, /[.?]$/.test(words) ? words : `${words}.`)
  }
  return written
}

function checkedPlan(written: Written, context: PlanContext & { cron: CronTimes }, problems: PlanProblems): Plan {
  const { name = '', budget, defaults = {} } = written
  const { now, cron } = context
  const zone = zoneIn(written.zone, context.zone, problems)
  const schedule = scheduleIn(written.schedule, { zone, now, cron }, problems)
  if (budget && Object.keys(budget).length === 0)
    problems.add(['budget'], 'the budget has no limit. Give it tokens, cost or time, or leave it out.')
  const deadlineAt = (at: Deadlined, path: Path) =>
    deadlineIn(at?.deadline, [...path, 'deadline'], { zone, now, repeats: schedule !== undefined }, problems)
  const usual = deadlineAt(defaults, ['defaults'])
  const groups = groupsIn(written, problems)
  const named = groupsByName(groups)
  const tasks = isSmall(groups, problems)
    ? groups.flatMap((group) =>
        plannedTasks(group, named, defaults, {
          deadline: deadlineAt(group.task, group.at) ?? usual,
          workspace: context.workspace,
          agents: context.agents,
          problems,
        }),
      )
    : []
  checkCircles(groups, named, problems)
  const caps = budget && defined({ tokens: budget.tokens, cost: budget.cost, timeMs: budget.time })
  return defined({ name, tasks, deadline: deadlineAt(written, []), schedule, budget: caps })
}

type Deadlined = Pick<Written, 'deadline'>

/** Checks the size of a plan before it is expanded: a small file may describe a very large plan. */
function isSmall(groups: readonly Group[], problems: PlanProblems): boolean {
  const sum = (size: (group: Group) => number) => groups.reduce((all, group) => all + size(group), 0)
  const count = sum((group) => group.combinations.length)
  const length = sum(({ task, combinations: all }) => (task.prompt?.length ?? 0) * all.length)
  if (count > mostTasks)
    problems.add(
      ['tasks'],
      `the plan becomes ${count} tasks, its matrices included; ${mostTasks} are allowed. Split it into several files.`,
    )
  if (length > longestPrompts)
    problems.add(
      ['tasks'],
      `the prompts of all tasks have ${length} characters, matrices included; ${longestPrompts} are allowed. Shorten them, or let the prompt name a file.`,
    )
  return count <= mostTasks && length <= longestPrompts
}

/** The groups by their own names, and by the names of their combinations. */
function groupsByName(groups: readonly Group[]): ReadonlyMap<string, Group> {
  const combined = groups.flatMap((group) => namesOf(group).map((name) => [name, group] as const))
  return new Map([...combined, ...groups.map((group) => [group.task.name, group] as const)])
}

/** The written tasks that have a unique name, each with the combinations of its matrix. */
function groupsIn({ tasks = [] }: Written, problems: PlanProblems): Group[] {
  const seen = new Map<string, number>()
  return tasks.flatMap((task, index): Group[] => {
    const at: Path = ['tasks', index]
    // The problem of a task without a valid name was already noted.
    if (task?.name === undefined) return []
    const { name, matrix } = task
    const before = seen.get(name)
    if (name === 'matrix')
      problems.add(
        [...at, 'name'],
        'a task cannot be called "matrix", because {{matrix.…}} stands for the values of a matrix. Choose another name.',
      )
    if (before !== undefined)
      problems.add(
        [...at, 'name'],
        `tasks[${before}] has the name "${name}" already. Give each task a name of its own.`,
      )
    if (name === 'matrix' || before !== undefined) return []
    seen.set(name, index)
    return [{ task, at, combinations: matrix ? combinationsIn(matrix, [...at, 'matrix'], problems) : [undefined] }]
  })
}

function combinationsIn(matrix: Matrix, at: Path, problems: PlanProblems): Combination[] {
  const { axes = {}, include = [], exclude = [] } = matrix
  const count = combinationCount({ axes }) + include.length
  if (count > mostCombinations) {
    const words = `the matrix has ${count} combinations; ${mostCombinations} are allowed. Remove values, or split the task.`
    problems.add(at, words)
    return []
  }
  for (const [index, part] of exclude.entries())
    for (const [key, value] of Object.entries(part ?? {})) {
      const values = axes[key]
      const path: Path = [...at, 'exclude', index, key]
      if (!values) problems.add(path, `the matrix has no "${key}"${meantWords(key, Object.keys(axes))}`)
      else if (!values.includes(value))
        problems.add(path, `the matrix has no ${key} "${value}"${meantWords(value, values)}`)
    }
  const made = combinations({ axes, include, exclude })
  if (made.length === 0)
    problems.add(at, 'the matrix has no combination. Give it a name with a list of values, or leave the matrix out.')
  const seen = new Set<string>()
  const double = made.map((one) => combinationName('', one)).find((name) => seen.size === seen.add(name).size)
  if (double !== undefined)
    problems.add(at, `the matrix has the combination${double} twice. Remove one of the equal values.`)
  return made
}

const namesOf = ({ task: { name }, combinations: all }: Group) =>
  all.map((one) => (one ? combinationName(name, one) : name))

/** The tasks that one written task expands to. */
function plannedTasks(
  group: Group,
  groups: ReadonlyMap<string, Group>,
  defaults: Defaults,
  given: Pick<PlanContext, 'workspace' | 'agents'> & { deadline: Deadline | undefined; problems: PlanProblems },
): PlannedTask[] {
  const { task, at } = group
  const needs = needsOf(group, groups, given.problems)
  const { workspace = defaults.workspace, agent = defaults.agent, retries = defaults.retries } = task
  const capabilities = task.capabilities ?? defaults.capabilities ?? []
  const from = (field: 'workspace' | 'agent' | 'capabilities'): Path =>
    task[field] === undefined ? ['defaults', field] : [...at, field]
  const known = (name: string | undefined) => {
    const { agents, problems } = given
    if (name && agents && !agents.includes(name))
      problems.add(from('agent'), `there is no agent "${name}" at the hub${meantWords(name, agents)}`)
    return name
  }
  return group.combinations.map((combination): PlannedTask => {
    const templates = new PlanTemplates({ task: task.name, needs, combination }, given.problems)
    return defined({
      name: combination ? combinationName(task.name, combination) : task.name,
      prompt: templates.prompt(task.prompt ?? '', [...at, 'prompt']),
      workspace: workspaceAt(given.workspace, workspace && templates.text(workspace, from('workspace'))),
      agent: known(agent && templates.text(agent, from('agent'))),
      capabilities: capabilities.map((each, index) => templates.text(each ?? '', [...from('capabilities'), index])),
      priority: task.priority ?? defaults.priority ?? 0,
      needs: [...new Set(needs.flatMap(({ names }) => names))],
      retries: retriesOf(retries),
      deadline: given.deadline,
    })
  })
}

/** A path that begins with a dot is inside the workspace from which the plan is added; a folder of a repository means the repository. */
function workspaceAt(usual: string, written: string | undefined): string {
  if (written === undefined) return usual
  if (written.includes('://')) return repositoryKey({ remote: written, first: [] }) ?? written
  if (repositoryIn(usual) && /^\.(?:\/|$)/.test(written)) return usual
  return /^\.\.?(?:\/|$)/.test(written) ? join(usual, written).replace(/(?<=.)\/$/, '') : written
}

function needsOf({ task, at }: Group, groups: ReadonlyMap<string, Group>, problems: PlanProblems): NamedNeed[] {
  const written = writtenNeeds(task)
  return written.flatMap((need, index): NamedNeed[] => {
    const path: Path = typeof task.needs === 'string' ? [...at, 'needs'] : [...at, 'needs', index]
    const found = groups.get(need)
    if (!found) {
      const others = [...new Set([...groups.values()].map((other) => other.task.name))].filter(
        (name) => name !== task.name,
      )
      problems.add(path, `there is no task "${need}" in this plan${meantWords(need, others)}`)
      return []
    }
    if (written.indexOf(need) !== index) {
      problems.add(path, `"${need}" is named twice. Remove one of them.`)
      return []
    }
    const group = found.task.name
    return [{ group, names: need === group ? namesOf(found) : [need] }]
  })
}

/** The needs of a task. A need with the wrong form is left out: its problem was already noted. */
const writtenNeeds = ({ needs = [] }: WrittenTask) =>
  (typeof needs === 'string' ? [needs] : needs).filter((need) => need !== undefined)

/** Notes each cycle of needs as a problem, with its path. */
function checkCircles(groups: readonly Group[], named: ReadonlyMap<string, Group>, problems: PlanProblems): void {
  const clear = new Set<string>()
  const visit = (group: Group, path: readonly Group[]): void => {
    const begin = path.indexOf(group)
    if (begin >= 0) {
      const circle = [...path.slice(begin), group].map(({ task: { name } }) => name)
      const words = circle.length === 2 ? `"${circle[0]}" needs itself` : `${circle.join(' needs ')}, which is a circle`
      problems.add([...group.at, 'needs'], `${words}. None of these tasks could start: remove one of the needs.`)
      return
    }
    if (clear.has(group.task.name)) return
    for (const need of writtenNeeds(group.task)) {
      const next = named.get(need)
      if (next) visit(next, [...path, group])
    }
    clear.add(group.task.name)
  }
  for (const group of groups) visit(group, [])
}

function retriesOf(written: number | { times: number; pause?: number } | undefined): Retries | undefined {
  const { times, pause = 0 } = typeof written === 'number' ? { times: written } : (written ?? { times: 0 })
  return times > 0 ? { times, pauseMs: pause } : undefined
}
