import type { MachinesAtWork } from '../../../../src/hub/model/machine-work.ts'
import type { Task } from '../../../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { createReadStream, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fleetMerger, offerMerging } from '../../../../src/hub/server/merge/fleet-merge.ts'
import { keysAt, wantedWorkspace } from '../../../../src/hub/server/merge/own-workspaces.ts'
import { machineMerger } from '../../../../src/hub/server/merge/work-merge.ts'
import { RegisteredWork } from '../../../../src/hub/server/link/registered-work.ts'
import { MachineAway } from '../../../../src/hub/model/machine-work.ts'
import { realClock } from '../../../../src/base/time/clock.ts'
import { branchOf } from '../../../../src/worktrees/task-branches.ts'
import { bundleOf, writeBundle } from '../../../../src/worktrees/work-bundle.ts'
import { cloneOf, folderFor, git, machineIo, repositoryAt } from '../../../machines-rig.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const elsewhere = 'https://hub.example'
const remote = 'https://git.example/acme/shop.git'

test('a merge is made by a linked machine that has the repository, which the answer names; obstacles are those of that machine', async (t) => {
  const at = folderFor(t)
  // The agent's machine has made the work, and is gone since: the hub has its bundle.
  const agent = repositoryAt(join(at, 'agent'), remote)
  const desk = cloneOf(agent, join(at, 'desk', 'shop'), remote)
  const id = '0123456789abcdef'
  const branch = branchOf(id)
  const base = git(agent, 'rev-parse', 'HEAD')
  git(agent, 'checkout', '-q', '-b', branch)
  writeFileSync(join(agent, 'shop.txt'), 'pears\n')
  git(agent, 'commit', '-qam', 'pears')
  const commit = git(agent, 'rev-parse', 'HEAD')
  const file = join(at, 'work.bundle')
  await writeBundle(machineIo(join(at, 'a'), at).env, agent, { branch, base, commit }, file)
  const read = (_id: string, _number: number, from: number) => createReadStream(file, { start: from })
  const { workspace } = await wantedWorkspace(machineIo(join(at, 'a'), agent), undefined, elsewhere)
  const task = {
    ...{
      id,
      prompt: 'Sell pears.',
      workspace,
      priority: 0,
      capabilities: [],
      needs: [],
      created: 1,
      moved: 1,
      returns: 0,
    },
    ...{ notes: [], history: [], state: 'IN_REVIEW', agent: 'a', result: { message: 'done' } },
    tries: [
      {
        number: 1,
        agent: 'a',
        began: 1,
        ended: 2,
        end: 'IN_REVIEW',
        branch,
        commit,
        base,
        bundle: await bundleOf(file),
      },
    ],
  } as Task

  const works = { bare: new RegisteredWork(realClock), desk: new RegisteredWork(realClock) }
  offerMerging(works.bare, machineMerger(machineIo(join(at, 'bare'), at), read))
  const io = machineIo(join(at, 'desk', 'home'), desk)
  // An agent was started in the clone once, so that the machine knows it.
  await keysAt(io, desk, elsewhere)
  offerMerging(works.desk, machineMerger(io, read))
  const linked = new Set<keyof typeof works>()
  const machines: MachinesAtWork = {
    withWork: async () => [...linked],
    async ask(machine, kind, input, { by }) {
      const work = linked.has(machine as 'desk') ? works[machine as 'desk'] : undefined
      if (!work) throw new MachineAway(machine, `${machine} is offline`)
      return kind.output.parse(
        JSON.parse(
          JSON.stringify(
            await work.run(kind.name, JSON.parse(JSON.stringify(input)), { by, signal: new AbortController().signal }),
          ),
        ),
      )
    },
  }
  const merger = fleetMerger(machineMerger(machineIo(join(at, 'hub'), at), read), () => machines)
  const refusal = () =>
    merger.check(task).then(
      () => 'can be merged',
      (error: Error) => error.message,
    )
  golden(t, await refusal(), { [`The machine ${hostname()} `]: 'The machine <host> ' })
  linked.add('bare')
  golden(t, await refusal())
  linked.add('desk')
  writeFileSync(join(desk, 'shop.txt'), 'half an edit\n')
  golden(t, await refusal(), { [at]: '<at>' })
  git(desk, 'checkout', '-q', '--', '.')
  assert.deepEqual(await merger.check(task), { commit })
  assert.equal(await merger.found(task, commit), undefined)
  const merged = await merger.merge(task)
  assert.deepEqual(merged, { machine: hostname(), branch, into: 'main', commit: git(desk, 'rev-parse', 'HEAD') })
  assert.equal(readFileSync(join(desk, 'shop.txt'), 'utf8'), 'pears\n')
  assert.equal(git(desk, 'branch', '--list', branch), '', 'the branch of merged work is gone')
})
