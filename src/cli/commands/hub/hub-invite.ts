import type { Io } from '../../../core/io.ts'
import type { ListedInvite } from '../../../hub/model/access/invitation.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import { defined } from '../../../base/defined.ts'
import { localTimeFrom } from '../../../base/time/local-time.ts'
import { table } from '../../../base/text/table.ts'
import { listedTime, print, say, UsageError } from '../../../core/io.ts'
import { hubPlace, isOwnHub } from '../../../hub/client/hub-address.ts'
import { withKeys } from '../../../hub/server/key-desk.ts'
import { placeOf } from '../../../home/place.ts'
import { readSettings } from '../../../settings/settings.ts'
import { durationOf } from '../../arguments/args.ts'

/** Prints the command that installs an agent machine, or lists the invitations. */
export async function invite(io: Io, values: Parsed['values'], words: readonly string[]): Promise<number> {
  const [name, ...more] = words
  if (more.length > 0) throw new UsageError(`hub invite takes the name of one machine, but found "${words.join(' ')}".`)
  const server = typeof values.server === 'string' ? values.server : undefined
  const time = (flag: 'valid' | 'expires') =>
    typeof values[flag] === 'string' ? durationOf(flag, values[flag]) : undefined
  const wish = defined({ validMs: time('valid'), lifeMs: time('expires') })
  const settings = await readSettings({ home: placeOf(io).home }, { env: io.env })
  await withKeys(
    io,
    async (desk) => {
      if (name === undefined) return list(io, await desk.invites(), values.json === true)
      const made = await desk.invite(name, wish)
      const address = made.page ?? settings.hub.publicUrl ?? hubPlace(io, settings, server).url
      const line = `npx --yes termaite agent join ${address} --code ${made.code}`
      if (values.json === true) return print(io, JSON.stringify({ ...made.invite, code: made.code, address, line }))
      const until = localTimeFrom(io.clock.now(), made.invite.ends)
      say(
        io,
        `Run this line on the machine ${name}, with the options of its agent, such as --start=claude --clone. The code works once, until ${until}:`,
      )
      print(io, line)
      if (isOwnHub(address))
        say(
          io,
          'This hub listens on its own machine alone. docs/fleet.md says how others reach it: with TLS, or a proxy.',
        )
    },
    server,
  )
  return 0
}

function list(io: Io, invites: ListedInvite[], json: boolean): void {
  if (json) return print(io, JSON.stringify(invites))
  if (invites.length === 0)
    return say(io, 'There is no invitation. Make one with: termaite hub invite <name of the machine>')
  const now = io.clock.now()
  const rows = invites.map(({ name, by, made, ends, usedAt }) => [
    name,
    usedAt !== undefined ? `used ${localTimeFrom(now, usedAt)}` : ends > now ? 'open' : 'over',
    listedTime(io, made, (at) => localTimeFrom(now, at)),
    localTimeFrom(now, ends),
    by,
  ])
  print(io, table([['NAME', 'STATE', 'MADE', 'ENDS', 'MADE BY'], ...rows]))
}
