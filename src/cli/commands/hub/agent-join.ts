import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { UsageError } from '../../../core/io.ts'
import { hubAddressOf, joinHub, leaveHub } from '../../../hub/server/machine-join.ts'
import { askHidden } from '../../../questions/terminal-questions.ts'

/** The options of `termaite agent` that are stored for the agent of a joining machine. */
const kept = ['start', 'as', 'leash', 'offer', 'machine-name'] as const
const switches = ['clone', 'push', 'here'] as const

/** Joins this machine to a hub, or removes it again. */
export async function joinOrLeave(io: Io, { values, words }: Parsed): Promise<number> {
  const [verb, url, ...more] = words
  if ((verb !== 'join' && verb !== 'leave') || more.length > 0 || (verb === 'join' && url === undefined))
    throw new UsageError(
      `agent: found "${words.join(' ')}", allowed: join <address of a hub>, leave [address of a hub].`,
    )
  if (verb === 'leave') await leaveHub(io, url)
  else
    await joinHub(io, {
      url: hubAddressOf(url!),
      code: () => codeIn(io, values),
      options: optionsIn(io, values),
      service: values['no-service'] !== true,
    })
  return 0
}

async function codeIn(io: Io, { code }: Parsed['values']): Promise<string> {
  if (typeof code === 'string') return code
  if (!io.in.isTTY)
    throw new UsageError(
      'agent join: the code of the invitation is missing: --code <code>. It is made with: termaite hub invite <name>',
    )
  return askHidden(io, 'The code of the invitation: ')
}

function optionsIn({ env }: Io, values: Parsed['values']): string[] {
  const many = Array.isArray(values.capability) ? values.capability : []
  return [
    ...kept.flatMap((name) => (typeof values[name] === 'string' ? [`--${name}=${values[name]}`] : [])),
    ...switches.flatMap((name) => (values[name] === true ? [`--${name}`] : [])),
    // The whole path of the file is used, because the agent may start in another folder.
    ...(values.ca === undefined ? [] : [`--ca=${env.TERMAITE_HUB_CA}`]),
    ...many.map((word) => `--capability=${word}`),
  ]
}
