import type { Advice } from './advise.ts'
import type { Proposal } from './proposal.ts'
import type { Verdict } from './verdict.ts'
import { isSame } from './proposal.ts'

type Vote = { role: string; proposal: Proposal }

/** A verdict without a chair: what most of the advisors stand for, weighed by how they do, the first named before the last. */
export function counted(advice: readonly Advice[]): Verdict {
  const groups = grouped(advice.flatMap(({ role, proposals }) => proposals.map((proposal) => ({ role, proposal }))))
  const against = (votes: readonly Vote[]) => votes.find(({ proposal }) => proposal.against !== undefined)
  const weight = (votes: readonly Vote[]) => votes.reduce((sum, { proposal }) => sum + proposal.weight, 0)
  const standing = groups.filter((votes) => !against(votes)).sort((a, b) => weight(b) - weight(a))
  return {
    ranked: standing.map((votes) => {
      const { name } = votes[0]!.proposal
      const { how, needs } = votes.map(({ proposal }) => proposal).reduce(fuller)
      return { name, how, needs, why: `named by ${[...new Set(votes.map(({ role }) => role))].join(', ')}` }
    }),
    dropped: groups.flatMap((votes) => {
      const no = against(votes)
      return no ? [{ name: votes[0]!.proposal.name, why: `${no.role}: ${no.proposal.against}` }] : []
    }),
    dissent: '',
  }
}

function grouped(votes: readonly Vote[]): Vote[][] {
  const groups: Vote[][] = []
  for (const vote of votes) {
    const group = groups.find(([first]) => isSame(first!.proposal.name, vote.proposal.name))
    if (group) group.push(vote)
    else groups.push([vote])
  }
  return groups
}

/** Whoever says more about it says it for all. */
const fuller = (a: Proposal, b: Proposal) => (b.how.length > a.how.length ? b : a)
