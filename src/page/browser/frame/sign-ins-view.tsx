import type { ListedLink, ListedSignIn } from '../../../hub/model/access/sign-in.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { act, refused } from '../hub/act.ts'
import { call } from '../hub/hub-connection.ts'
import { request } from '../hub/hub-request.ts'
import { me } from '../hub/hub-state.ts'
import { rowClass } from './list-keys.ts'
import { Refused } from './refused.tsx'
import { ago, moment } from '../words/words.ts'

const signIns = signal<readonly ListedSignIn[]>([])
const links = signal<readonly ListedLink[]>([])

async function readSignIns(): Promise<void> {
  try {
    signIns.value = await call(request('GET /api/sign-ins'))
    links.value = await call(request('GET /api/links'))
  } catch (error) {
    refused.value = error instanceof Error ? error.message : String(error)
  }
}

const reread = () => {
  void readSignIns()
}

export function SignInsView() {
  useEffect(reread, [])
  const end = (id: string) => () => act(request('POST /api/sign-ins/:id/end', { id }), {}, reread)
  return (
    <section aria-labelledby="sign-ins-title">
      <h1 id="sign-ins-title">Sign-ins</h1>
      <Refused />
      <ul class="rows">
        {signIns.value.map(({ id, browser, role, made, used, ends }) => (
          <li class={rowClass} key={id}>
            <article>
              <h2>
                <span>{id === me.value?.id ? 'This browser' : browser || 'A browser'}</span>
                <span class="badge">{role}</span>
              </h2>
              <p class="quiet">
                since {moment(made)} · used {ago(used ?? made)}
                {ends === undefined ? '' : ` · ends ${moment(ends)}`}
              </p>
              <p class="buttons">
                <button data-key="x" onClick={end(id)}>
                  <kbd>x</kbd> {id === me.value?.id ? 'Sign out' : 'End this sign-in'}
                </button>
              </p>
            </article>
          </li>
        ))}
      </ul>
      <h2>Links</h2>
      {links.value.length === 0 ? (
        <p class="empty">
          No link is open. Make one with <code>termaite dashboard</code>; <code>--read-only</code> makes one to share.
        </p>
      ) : (
        <ul class="rows">
          {links.value.map(({ id, role, once, ends }) => (
            <li class={rowClass} key={id}>
              <article>
                <h2>
                  <span>{once ? 'A link for one use' : 'A link to share'}</span>
                  <span class="badge">{role}</span>
                </h2>
                <p class="quiet">ends {moment(ends)}</p>
                <p class="buttons">
                  <button data-key="x" onClick={end(id)}>
                    <kbd>x</kbd> End this link
                  </button>
                </p>
              </article>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
