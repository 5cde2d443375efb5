// TrackedResources: resources as a command may see them, every look noted in its footprint.
//
// Facts (engine/footprint.h), and what they stand for:
//
//   r/<id>                              the newest record of that resource, or that there is none
//   n/<kind>/<owner>/<tenancy>/<name>   which active resource has the name; <owner> is empty for a
//                                       root, <tenancy> for a child
//   c/<owner>/<id>                      that the resource is a child of the owner, and whether it
//                                       is active
//   s/<target>/<id>                     that the resource refers to the target
//
// What a change writes:
//
//   create        r/<id>  n/...  c/<owner>/<id>  s/<target>/<id>
//   patch         r/<id>, and s/<target>/<id> of all references, old and new, if they change
//   mark deleted  r/<id>  n/...  c/<owner>/<id>  s/<target>/<id>
//   remove        r/<id>  c/<owner>/<id>  s/<target>/<id>, and n/... if it was active
//
// Who refers to a target looks at r/<target>; who deletes it looks at the prefix s/<target>/. So
// of a reference and the deletion of its target only one is in a batch, whichever comes first.
//
// A look at the children of an owner depends on the prefix c/<owner>/, so on children that do not
// exist yet; who goes on to use more of a child than its id, kind, name and whether it is active
// notes r/<id> with Use. So a cascade conflicts with a child created, patched or deleted by an
// earlier command of the batch, and a child create or patch with an earlier cascade.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/footprint.h"
#include "projections/resources/image.h"

namespace projections {

// One thread; never blocks.
class TrackedResources {
 public:
  TrackedResources(const ResourcesImage& image, engine::Footprint& footprint)
      : image_(image), footprint_(footprint) {}

  // As in ResourcesImage.
  const ResourceEntry* Find(std::string_view id);
  const ResourceEntry* FindNamed(const NameProbe& name);
  std::vector<const ResourceEntry*> Children(std::string_view owner_id);
  std::vector<const ResourceEntry*> Sources(std::string_view target_id);
  // The whole state of what Children or Sources gave matters.
  void Use(const ResourceEntry& found);

  void NoteCreated(const ResourceState& state, const NameProbe& name);
  // `state` is what `entry` becomes.
  void NotePatched(const ResourceEntry& entry, const ResourceState& state);
  // Marked as deleted, or removed.
  void NoteDeleted(const ResourceEntry& entry);

 private:
  void NoteReferences(std::string_view id, const std::vector<ReferenceState>& references);

  const ResourcesImage& image_;
  engine::Footprint& footprint_;
};

}  // namespace projections
