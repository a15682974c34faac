import type { Pause } from '../../../hub/model/tasks/machine-rules.ts'
import type { AgentRow } from '../hub/page-state.ts'
import type { HubRequest } from '../hub/page-request.ts'
import { useState } from 'preact/hooks'
import { pauseWords, wholeHub } from '../../../hub/model/tasks/machine-rules.ts'
import { LineForm } from '../frame/line-form.tsx'
import { act } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { me, rules, standing } from '../hub/page-state.ts'
import { VisibleWords } from '../words/visible-words.tsx'

/** Whether this person may change the rules of machines and of the hub. */
export const operates = () => me.value?.role === 'admin'

/** Shown on every view while the hub is paused, because no task begins then. */
export function HubPause() {
  const pause = rules.value.get(wholeHub)?.pause
  if (!pause) return null
  const working = standing.value.filter(({ task }) => task !== undefined).length
  return (
    <p class="updated hub-pause" role="status">
      The hub is <VisibleWords text={pauseWords(pause, working)} />: nothing new is given out.{' '}
      {working > 0 ? `${working === 1 ? '1 agent still works' : `${working} agents still work`}. ` : ''}
      {operates() ? <button onClick={() => act(request('POST /api/hub/resume'))}>Resume the hub</button> : null}
    </p>
  )
}

type PauseActsProps = {
  pausing: HubRequest<'POST /api/agents/:id/pause' | 'POST /api/machines/:id/pause' | 'POST /api/hub/pause'>
  resuming: HubRequest
  name: string
  words: string
  pause?: Pause | undefined
  keyed?: boolean
}

/** The buttons that pause, drain or resume an agent, a machine or the hub; a pause asks for its reason, which may be left empty. */
export function PauseActs({ pausing, resuming, name, words, pause, keyed = false }: PauseActsProps) {
  const [asked, setAsked] = useState<'pause' | 'drain'>()
  const key = keyed ? { 'data-key': 'p' } : {}
  const mark = keyed ? <kbd>p</kbd> : null
  if (pause)
    return (
      <button {...key} title={`${name} is given tasks again`} onClick={() => act(resuming)}>
        {mark} Resume
      </button>
    )
  const order = (why: string) => {
    act(pausing, { ...(why === '' ? {} : { why }), ...(asked === 'drain' ? { drain: true } : {}) })
    setAsked(undefined)
  }
  return (
    <>
      <button
        {...key}
        aria-expanded={asked === 'pause'}
        title="Gives it no new tasks; its present tasks continue"
        onClick={() => setAsked('pause')}
      >
        {mark} {words} …
      </button>
      <button
        aria-expanded={asked === 'drain'}
        title="Gives it no new tasks, and says when the last of them is done"
        onClick={() => setAsked('drain')}
      >
        Drain …
      </button>
      {asked ? (
        <LineForm
          label={`Why is ${name} paused?`}
          placeholder="Why? Everybody whose tasks wait sees this reason"
          button={`${asked === 'drain' ? 'Drain' : 'Pause'} ${name}`}
          send={order}
          mayBeEmpty
          focus
          close={() => setAsked(undefined)}
        />
      ) : null}
    </>
  )
}

/** Why a present agent gets no tasks; shown next to its state. */
export function restFact({ rests, task }: AgentRow): string | undefined {
  if (!rests) return undefined
  if (!('pause' in rests))
    return `no: ${rests.machine} has its limit of ${rests.limit} ${rests.limit === 1 ? 'task' : 'tasks'}`
  const of = { agent: 'it', machine: `its machine ${rests.machine}`, hub: 'the hub' }[rests.of]
  return `no: ${of} is ${pauseWords(rests.pause, task === undefined ? 0 : 1)}`
}
