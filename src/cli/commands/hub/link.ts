import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { hubPlace, namedHub } from '../../../hub/client/hub-address.ts'
import { fixedKey } from '../../../hub/client/hub-key-source.ts'
import { keepMachineLink } from '../../../hub/server/link/kept-link.ts'
import { offeredWords, offersOf } from '../../../hub/server/link/link-offers.ts'
import { machineIdentity } from '../../../hub/client/machine-identity.ts'
import { placeOf } from '../../../home/place.ts'
import { noteProcess } from '../../../border/running-processes.ts'
import { say, UsageError } from '../../../core/io.ts'
import { readSettings } from '../../../settings/settings.ts'

/** Links this machine to a hub until the command is stopped. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const { home } = placeOf(io)
  const settings = await readSettings({ home }, { env: io.env })
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)
  const server = text('server')
  if (namedHub(io, settings, server) === undefined)
    throw new UsageError('link: which hub? Name its address: termaite link --server https://hub.example')
  const place = hubPlace(io, settings, server)
  if (place.key === undefined)
    throw new UsageError(
      `link: there is no key for ${place.url}. Make one there with: termaite hub keys add <name> --role agent. Then set TERMAITE_HUB_KEY to it here.`,
      1,
    )
  const wishes = { offer: text('offer'), machineName: text('machine-name') }
  const { machine } = machineIdentity(io, home, wishes.machineName ?? settings.link.name)
  say(io, offeredWords(machine, offersOf(wishes, settings)))
  const unnote = noteProcess(home, { process: 'link', about: machine, url: place.url }, io.clock)
  const key = fixedKey(place.key)
  try {
    await keepMachineLink(
      io,
      { url: () => place.url, key, settings, wishes, tell: (_, words) => say(io, words) },
      io.signal,
    )
  } finally {
    unnote()
  }
  return 0
}
