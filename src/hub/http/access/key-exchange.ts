import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../../base/time/clock.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { AuditTrail } from '../../engine/audit-trail.ts'
import type { Invites } from '../../engine/access/invites.ts'
import type { SignIns } from '../../engine/access/sign-ins.ts'
import type { WrongKeys } from '../../../wire/http/wrong-keys.ts'
import type { BrowserAccess } from './browser-access.ts'
import type { HubFront } from './hub-front.ts'
import { defined } from '../../../base/defined.ts'
import { hubProtocol } from '../../model/hub-protocol.ts'
import { mayTryAgain } from '../../../wire/http/http-server.ts'
import { readJsonBody, send } from './hub-answers.ts'
import { refusal } from './hub-router.ts'
import { serverPaths } from './server-paths.ts'

type Doors = { door: BrowserAccess; front: HubFront; wrong: WrongKeys }

type Books = { signIns: SignIns; invites?: Invites; clock: Clock; trail?: AuditTrail; version?: string }

const linkIsOver =
  'This link was used already, or it has expired. Make a new one with: termaite dashboard (or /dashboard in the chat).'

/** Signs a browser in: exchanges the secret of a link for a cookie, and a secret that the page keeps itself. */
export async function signInBrowser(
  request: IncomingMessage,
  response: ServerResponse,
  { door, front, wrong }: Doors,
  { signIns, clock, trail }: Books,
): Promise<void> {
  if (!door.isSameOrigin(request))
    return send(response, refusal(403, 'a browser signs in from the page of the hub itself'))
  const sent = await postedTo(serverPaths.signIn.path, request, response)
  if (!sent) return
  const { link } = sent
  const entered = typeof link === 'string' ? await signIns.enter(link, request.headers['user-agent'] ?? '') : undefined
  if (!entered) {
    if (mayTryAgain(wrong, response, front.arrival(request).address, String(link)))
      send(response, refusal(401, linkIsOver))
    return
  }
  const { cookie, page, signIn } = entered
  trail?.came(signIn, front.arrival(request).address)
  await trail?.note({ caller: signIn, act: 'sign-in', on: signIn.link, status: 200 })
  door.setCookie(request, response, cookie, signIn.ends === undefined ? undefined : signIn.ends - clock.now())
  send(response, { status: 200, body: { page, signIn } })
}

const codeIsOver =
  'This code is not known: it was used already, it has expired, or it was typed wrongly. Make a new one on the machine of the hub with: termaite hub invite <name>'

/** Admits an agent's machine: exchanges the code of an invitation for a key. The machine made the key's secret and keeps it to itself. */
export async function joinMachine(
  request: IncomingMessage,
  response: ServerResponse,
  { front, wrong }: Omit<Doors, 'door'>,
  { invites, clock, trail, version }: Books,
): Promise<void> {
  const sent = await postedTo(serverPaths.join.path, request, response)
  if (!sent) return
  const { code, hash } = sent
  if (typeof code !== 'string' || typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash))
    return send(response, refusal(400, 'send the code of an invitation, and the SHA-256 of a new key in hex as "hash"'))
  const { address } = front.arrival(request)
  const joined = await invites?.join(code, hash)
  if (!joined) {
    if (mayTryAgain(wrong, response, address, code)) send(response, refusal(401, codeIsOver))
    return
  }
  const { key, invite } = joined
  const caller: HubCaller = { id: key.id, name: key.name, role: key.role }
  trail?.came(caller, address)
  await trail?.note({ caller, act: 'join', on: invite.id, status: 200 })
  send(response, { status: 200, body: defined({ ...key, version, protocol: hubProtocol, now: clock.now() }) })
}

/** The fields of a POST to a path; undefined if the request was refused and answered. */
async function postedTo(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Record<string, unknown> | undefined> {
  if (request.method !== 'POST') {
    send(response, refusal(405, `${path} accepts POST, not ${request.method}`))
    return undefined
  }
  const body = await readJsonBody(request)
  if (!('refused' in body)) return (body.json ?? {}) as Record<string, unknown>
  send(response, refusal(body.refused, body.why), { connection: 'close' })
  return undefined
}
