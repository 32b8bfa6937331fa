/** The highest share of calls whose model a project may leave to chance: more would cost more than it teaches. */
export const maxExplorationShare = 0.02
