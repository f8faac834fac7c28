// Runtime API: Texture and surface objects, channel descriptors.
#ifndef MUSCOPE_RUNTIME_API_TEXTURE_H
#define MUSCOPE_RUNTIME_API_TEXTURE_H

#include "api_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MUSCOPE_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc* desc, cudaArray_const_t array);
MUSCOPE_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f);
MUSCOPE_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* tex_object, const struct cudaResourceDesc* res_desc, const struct cudaTextureDesc* tex_desc, const struct cudaResourceViewDesc* res_view_desc);
MUSCOPE_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t tex_object);
MUSCOPE_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc* res_desc, cudaTextureObject_t tex_object);
MUSCOPE_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc* tex_desc, cudaTextureObject_t tex_object);
MUSCOPE_API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc* res_view_desc, cudaTextureObject_t tex_object);
MUSCOPE_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surf_object, const struct cudaResourceDesc* res_desc);
MUSCOPE_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surf_object);
MUSCOPE_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc* res_desc, cudaSurfaceObject_t surf_object);

#if defined(__cplusplus)
}
#endif

#endif
