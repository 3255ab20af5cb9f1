import { copyOf } from "./plain-values.js";
import { membersOf, replaceMembers } from "./members.js";
import { Place } from "./place.js";

interface Kept {
  readonly place: Place;
  /** The slot that stays, counted from 1; 0 for none. */
  readonly slot: number;
  met: number;
}

/**
 * Keeps each object that has several places in the oldest one and puts copies in the others (VALUE-9). Containers that
 * were removed from the state keep the object; if they come back, `relink` links it again.
 */
export function separate(shared: ReadonlySet<Place>): void {
  if (shared.size === 0) return;
  const known = new Map<Place, number>();
  const plan = new Map<Place, Map<object, Kept>>();
  const left: [place: Place, parent: Place, slots: number][] = [];
  for (const place of shared) {
    let isHome = true;
    for (const parent of place.parents) {
      if (!(parent instanceof Place)) {
        isHome = false;
        continue;
      }
      const slots = place.countIn(parent);
      if (parent.occurrences(known) === 0) {
        left.push([place, parent, slots]);
        continue;
      }
      const slot = isHome ? (place.isLastOlder ? slots : 1) : 0;
      isHome = false;
      if (slot > 0 && slots === 1) continue;
      const members = plan.get(parent) ?? new Map<object, Kept>();
      members.set(place.raw, { place, slot, met: 0 });
      plan.set(parent, members);
      left.push([place, parent, slots - (slot > 0 ? 1 : 0)]);
    }
  }
  for (const [parent, members] of plan) {
    replaceMembers(parent.raw, (member) => {
      const kept = members.get(member);
      if (!kept) return member;
      kept.met += 1;
      return kept.met === kept.slot ? member : copyOf(member);
    });
  }
  for (const [place, parent, slots] of left) {
    place.leave(parent, slots);
    place.isLastOlder = false;
  }
}

/** Links the members of an object that returns to the state, at any depth. Returns the object and all relinked ones. */
export function relink(place: Place, found: object[] = []): object[] {
  found.push(place.raw);
  const slots = new Map<Place, number>();
  for (const member of membersOf(place.raw)) {
    const known = typeof member === "object" && member !== null ? Place.of(member) : undefined;
    if (known?.owner === place.owner) slots.set(known, (slots.get(known) ?? 0) + 1);
  }
  for (const [member, count] of slots) {
    if (member.occurrences() === 0) relink(member, found);
    for (let missing = count - member.countIn(place); missing > 0; missing -= 1) member.enter(place);
  }
  return found;
}

/**
 * Unlinks a removed object from its members that are also elsewhere. Otherwise code that builds each version of an
 * array from the last one (`list = [...list, item]`) would leave every element with as many parents as there were
 * versions.
 */
export function unlink(place: Place): void {
  for (const member of membersOf(place.raw)) {
    const known = typeof member === "object" && member !== null ? Place.of(member) : undefined;
    const slots = known?.countIn(place) ?? 0;
    if (!known || slots === 0) continue;
    const isElsewhere = known.isShared;
    if (isElsewhere) known.leave(place, slots);
    if (!isElsewhere || !known.isPlaced) unlink(known);
  }
}

/** Whether a container holds any of `places`, at any depth. */
export function holdsAny(container: object, places: ReadonlySet<Place>): boolean {
  for (const member of membersOf(container)) {
    if (typeof member !== "object" || member === null) continue;
    const known = Place.of(member);
    if ((known && places.has(known)) || holdsAny(member, places)) return true;
  }
  return false;
}
