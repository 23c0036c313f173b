// owner.ts - whose drafts this browser keeps: those of one user are never offered to another.
let owner = '';

export const ownDrafts = (user: string) => { owner = user; };
export const draftOwner = () => owner;
